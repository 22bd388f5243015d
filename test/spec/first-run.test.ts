import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { z } from "zod"
import { defineJob } from "../../src/index.ts"
import { createTestKit, type TestKit } from "../../src/testing/index.ts"

const greet = defineJob({
  name: "greet",
  input: z.object({ who: z.string(), at: z.coerce.date().optional() }),
  run: async ({ who }) => `hello ${who}`,
})

describe.each(["memory", "postgres18"] as const)("a run, on %s", (where) => {
  let kit: TestKit
  beforeAll(async () => {
    kit = await createTestKit({ database: where === "memory" ? "memory" : inject(where) })
  })
  afterAll(() => kit.close())

  it("goes from enqueue to result to history", async () => {
    const app = await kit.app({ jobs: [greet], at: "2026-03-01T09:00Z" })
    const run = await app.enqueue(greet, { who: "ada" })
    expect(run).toMatchObject({ created: true })
    await app.drain()
    expect(await run.result()).toBe("hello ada")
    expect(await app.attempts(run.id)).toMatchObject([
      {
        runId: run.id,
        attempt: 1,
        job: "greet",
        pool: "default",
        outcome: "succeeded",
        runState: "succeeded",
        enqueuedAt: new Date("2026-03-01T09:00Z"),
        dueAt: new Date("2026-03-01T09:00Z"),
      },
    ])
  })
})
