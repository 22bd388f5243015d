import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describe("the record of an attempt", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it("holds what the handler was told, how long it took, and what it logged", async () => {
    const told: { readonly attemptId: string; readonly idempotencyKey: string }[] = []
    const job = defineJob({
      name: "talkative",
      retry: { attempts: 2, base: 0 },
      run: async (_: undefined, { attempt, attemptId, idempotencyKey, log }) => {
        told.push({ attemptId, idempotencyKey })
        log("hello", { attempt })
        if (attempt === 1) throw new Error("no luck")
      },
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    const attempts = await app.runs.attempts(run.id)
    expect(attempts.map(({ id, idempotencyKey }) => ({ attemptId: id, idempotencyKey }))).toEqual(told)
    expect(attempts).toMatchObject([
      { attempt: 1, generation: 1, charged: true, outcome: "failed", error: { message: "no luck" } },
      { attempt: 2, generation: 1, charged: true, outcome: "succeeded", runState: "succeeded" },
    ])
    for (const [index, record] of attempts.entries()) {
      expect(record.idempotencyKey).toBe(`run:${run.id}`)
      expect(record.durationMs).toBe(record.finishedAt.getTime() - (record.startedAt?.getTime() ?? 0))
      expect(record.logs).toMatchObject([{ message: "hello", data: { attempt: index + 1 } }])
      expect(record).not.toHaveProperty("tenant")
      expect(record).not.toHaveProperty("schedule")
      expect(typeof record.lease).toBe("string")
    }
  })
})
