import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createTestKit, type TestKit } from "../../src/testing/index.ts"
import { PLACES } from "../support/places.ts"

const noop = defineJob({ name: "noop", run: async () => {} })

describe.each(["memory", "postgres18"] as const)("the test kit, on %s", (where) => {
  let kit: TestKit
  beforeAll(async () => {
    kit = await createTestKit({ database: where === "memory" ? "memory" : PLACES[where] })
  })
  afterAll(() => kit.close())

  it("has a clock that stands still until it is moved", async () => {
    await using app = await kit.app({ at: "2026-03-29T00:59:59.999Z" })
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T00:59:59.999Z"))
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T00:59:59.999Z"))
    await app.clock.advance(1)
    expect(await app.clock.now()).toEqual(new Date("2026-03-29T01:00Z"))
    await app.clock.set("2020-02-29T12:00:00+02:00")
    expect(await app.clock.now()).toEqual(new Date("2020-02-29T10:00Z"))
  })

  it("refuses a time without a zone, and a duration that is none", async () => {
    await using app = await kit.app()
    await expect(app.clock.set("2026-03-29T01:00")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(app.clock.advance("soon" as "1s")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it("lets everything on the way happen at its own moment", async () => {
    await using app = await kit.app({ jobs: [noop], at: "2026-03-01T00:00Z" })
    const runs = await Promise.all(
      [3, 1, 2].map((hours) => app.enqueue(noop, undefined, { delay: `${hours}h` })),
    )
    await app.clock.advance("1d")
    const finished = await Promise.all(runs.map(async ({ id }) => (await app.attempts(id))[0]?.finishedAt))
    expect(finished).toEqual([3, 1, 2].map((hours) => new Date(Date.UTC(2026, 2, 1, hours))))
    expect(await app.clock.now()).toEqual(new Date("2026-03-02T00:00Z"))
  })

  it("does nothing until it is told to, then one step at a time", async () => {
    await using app = await kit.app({ jobs: [noop] })
    await app.enqueue(noop)
    expect(app.events.map(({ type }) => type)).not.toContain("attempt.started")
    await app.tick()
    await app.until("attempt.finished")
  })

  it("keeps apps apart, side by side", async () => {
    await using one = await kit.app({ jobs: [noop], at: "2026-01-01T00:00Z" })
    await using other = await kit.app({ jobs: [noop], at: "2036-01-01T00:00Z" })
    const run = await one.enqueue(noop)
    await other.drain()
    expect(await other.attempts(run.id)).toEqual([])
    await one.drain()
    expect(await one.attempts(run.id)).toHaveLength(1)
    expect(await other.clock.now()).toEqual(new Date("2036-01-01T00:00Z"))
  })

  it("can let the loops run by themselves, as in production", async () => {
    await using app = await kit.app({ jobs: [noop] })
    await app.start()
    const run = await app.enqueue(noop)
    expect(await run.result()).toBeNull()
  })
})
