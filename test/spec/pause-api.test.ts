/** What users see of a pause. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describe("an application", () => {
  const by = { actor: "ada", reason: "to see" }
  const greet = defineJob({ name: "greet", run: async () => "hello" })
  const slow = defineJob({ name: "slow", pool: "slow", run: async () => "done" })
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  it.each([
    ["job", { job: "slow" }],
    ["pool", { pool: "slow" }],
  ])(
    "executes nothing of a paused %s but everything else, also after a restart, until it is resumed",
    async (_, target) => {
      await using app = await kit.app({ jobs: [greet, slow] })
      expect(await app.pause(target, by)).toBe(true)
      const [paused, free] = [await app.enqueue(slow), await app.enqueue(greet)]
      await app.drain()
      expect(await free.result()).toBe("hello")
      expect(await app.run(paused.id)).toMatchObject({ state: "parked", parkedFor: "pause" })
      await app.restart()
      await app.drain()
      expect(await app.attempts(paused.id)).toEqual([])
      expect(await app.pauses()).toMatchObject([{ ...by, name: "slow" }])
      expect(await app.resume(target, by)).toBe(true)
      await app.drain()
      expect(await paused.result()).toBe("done")
    },
  )

  it("lets a running attempt end, and begins none until it is resumed", async () => {
    const [started, ended] = [createGate(), createGate()]
    const held = defineJob({
      name: "held",
      run: async () => {
        started.open()
        await ended.opened
        return "done"
      },
    })
    await using app = await kit.app({ jobs: [held, greet], pools: { default: 2 } })
    await app.start()
    const first = await app.enqueue(held)
    await started.opened
    await app.pause({ job: "held" }, by)
    const second = await app.enqueue(held)
    ended.open()
    expect(await first.result()).toBe("done")
    // The later run has been executed, and this one has not begun.
    expect(await (await app.enqueue(greet)).result()).toBe("hello")
    expect(app.events).not.toContainEqual(
      expect.objectContaining({ type: "attempt.started", run: second.id }),
    )
    await app.resume({ job: "held" }, by)
    expect(await second.result()).toBe("done")
  })
})
