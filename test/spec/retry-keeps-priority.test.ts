/** A retry keeps the priority of its run: it goes before a backlog of lower priority. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describe("a retry", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it("keeps the priority of its run, and starts before the backlog that came meanwhile", async () => {
    const order: string[] = []
    const job = defineJob({
      name: "work",
      retry: { attempts: 2, delay: "1m" },
      run: async (name: string, { attempt }) => {
        order.push(`${name} ${attempt}`)
        if (name === "urgent" && attempt === 1) throw new Error("not yet")
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    await app.enqueue(job, "urgent", { priority: 5 })
    await app.drain()
    // Both are due with the retry, and were enqueued in the other order.
    await app.enqueue(job, "low", { priority: -1, delay: "1m" })
    await app.enqueue(job, "usual", { delay: "1m" })
    await app.clock.advance("1m")
    await app.drain()
    expect(order).toEqual(["urgent 1", "urgent 2", "usual 1", "low 1"])
  })
})
