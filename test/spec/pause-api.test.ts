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
    ["job", "jobs"],
    ["pool", "pools"],
  ] as const)(
    "executes nothing of a paused %s but everything else, also after a restart, until it is resumed",
    async (_, noun) => {
      await using app = await kit.app({ jobs: [greet, slow] })
      expect(await app[noun].pause("slow", by)).toBe(true)
      const [paused, free] = [await app.enqueue(slow), await app.enqueue(greet)]
      await app.drain()
      expect(await free.result()).toBe("hello")
      expect(await app.runs.get(paused.id)).toMatchObject({ state: "parked", parkedFor: "pause" })
      await app.restart()
      await app.drain()
      expect(await app.runs.attempts(paused.id)).toEqual([])
      expect(await app.pauses.list()).toMatchObject([{ ...by, name: "slow" }])
      expect(await app[noun].resume("slow", by)).toBe(true)
      await app.drain()
      expect(await paused.result()).toBe("done")
    },
  )

  it("executes nothing of a paused tenant, and says who is paused", async () => {
    await using app = await kit.app({ jobs: [greet], at: "2026-03-01T09:00Z" })
    expect(await app.tenants.pause("acme", { ...by, for: "1h" })).toBe(true)
    await app.tenants.pause("zeta", by)
    const [paused, free] = [
      await app.enqueue(greet, undefined, { tenant: "acme" }),
      await app.enqueue(greet, undefined, { tenant: "other" }),
    ]
    await app.drain()
    expect(await free.result()).toBe("hello")
    expect(await app.runs.get(paused.id)).toMatchObject({ state: "parked", parkedFor: "tenant" })
    const since = { ...by, at: new Date("2026-03-01T09:00Z") }
    const first = await app.tenants.list({ limit: 1 })
    expect(first.items).toEqual([
      { name: "acme", paused: { ...since, until: new Date("2026-03-01T10:00Z") } },
    ])
    expect(await app.tenants.list({ cursor: first.nextCursor ?? "" })).toEqual({
      items: [{ name: "zeta", paused: since }],
    })
    await app.clock.advance("1h")
    expect(await paused.result()).toBe("hello")
    expect(await app.pauses.list()).toMatchObject([{ kind: "tenant", name: "zeta" }])
    expect(await app.tenants.resume("zeta", by)).toBe(true)
    expect(await app.tenants.resume("zeta", by)).toBe(false)
  })

  it("executes nothing while everything is paused, and then what is not paused by its own name", async () => {
    await using app = await kit.app({ jobs: [greet, slow] })
    await app.jobs.pause("slow", by)
    await app.everything.pause({ ...by, for: "1h" })
    const [still, later] = [await app.enqueue(slow), await app.enqueue(greet)]
    await app.drain()
    expect(await app.runs.get(later.id)).toMatchObject({ state: "parked", parkedFor: "pause" })
    expect(await app.everything.resume(by)).toBe(true)
    expect(await app.everything.resume(by)).toBe(false)
    await app.drain()
    expect(await later.result()).toBe("hello")
    expect(await app.runs.get(still.id)).toMatchObject({ state: "parked" })
    expect(app.events.filter(({ type }) => type.startsWith("pause."))).toMatchObject([
      { type: "pause.began", kind: "job", name: "slow", until: null, ...by },
      { type: "pause.began", kind: "everything", name: "", until: expect.any(Date), ...by },
      { type: "pause.ended", kind: "everything", name: "", because: "resumed", ...by },
    ])
  })

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
    await app.jobs.pause("held", by)
    const second = await app.enqueue(held)
    ended.open()
    expect(await first.result()).toBe("done")
    // The later run has been executed, and this one has not begun.
    expect(await (await app.enqueue(greet)).result()).toBe("hello")
    expect(app.events).not.toContainEqual(
      expect.objectContaining({ type: "attempt.started", run: second.id }),
    )
    await app.jobs.resume("held", by)
    expect(await second.result()).toBe("done")
  })
})
