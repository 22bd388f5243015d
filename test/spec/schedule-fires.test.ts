/** What users see of the occurrences of a schedule: past ones in pages, and future ones. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type FireRecord, type ScheduleOptions } from "../../src/index.ts"
import type { TestApp } from "../../src/testing/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "ada", reason: "a test" }

describe.each(["memory", "postgres18"] as const)("the occurrences of a schedule, on %s", (where) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
  })
  afterAll(() => kit.close())

  async function stage(more: Partial<ScheduleOptions<undefined>> = {}) {
    const job = defineJob({ name: "work", run: async () => {} })
    const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z" })
    const options = { name: "report", every: "10m", job, overlap: "allow", ...more }
    await app.schedules.create(options as ScheduleOptions<undefined>)
    return app
  }

  /** Every row, read page by page. */
  async function pages(app: TestApp, limit: number, between: () => Promise<void> = async () => {}) {
    const found: FireRecord[] = []
    let cursor: string | undefined
    do {
      const page = await app.schedules.fires("report", { limit, ...(cursor && { cursor }) })
      expect(page.fires.length).toBeLessThanOrEqual(limit)
      found.push(...page.fires)
      cursor = page.cursor
      await between()
    } while (cursor !== undefined)
    return found
  }

  const times = (fires: readonly { readonly occurrence: Date }[]) =>
    fires.map(({ occurrence }) => occurrence.toISOString().slice(11, 16))

  it("report when each was due and decided, its run and how that ended", async () => {
    await using app = await stage()
    await app.clock.advance("10m")
    const { fires } = await app.schedules.fires("report")
    const due = new Date("2026-03-02T09:10Z")
    expect(fires).toEqual([
      {
        occurrence: due,
        last: due,
        count: 1,
        generation: 1,
        outcome: "fired",
        due,
        decidedAt: due,
        run: expect.any(String),
        state: "succeeded",
        attempts: 1,
      },
    ])
  })

  it("come in pages, the last page without a cursor", async () => {
    await using app = await stage()
    await app.clock.advance("50m")
    const whole = ["09:50", "09:40", "09:30", "09:20", "09:10"]
    const first = await app.schedules.fires("report", { limit: 2 })
    expect(times(first.fires)).toEqual(whole.slice(0, 2))
    for (const limit of [1, 2, 5, 6]) expect(times(await pages(app, limit)), `${limit}`).toEqual(whole)
    expect((await app.schedules.fires("report", { limit: 5 })).cursor).toBeUndefined()
  })

  it("lose none when two runs of one occurrence stand on two pages, nor when new ones come", async () => {
    await using app = await stage()
    await app.clock.advance("30m")
    const span = { from: new Date("2026-03-02T09:05Z"), to: new Date("2026-03-02T09:30Z") }
    await app.schedules.backfill("report", { ...by, ...span, reprocess: "all" })
    const found = await pages(app, 1, () => app.clock.advance("10m"))
    expect(found.map(({ generation }, index) => `${times(found)[index]} ${generation}`)).toEqual([
      "09:30 1",
      "09:20 2",
      "09:20 1",
      "09:10 2",
      "09:10 1",
    ])
  })

  it("list runs by hand beside them, with a mark", async () => {
    await using app = await stage()
    const byHand = () => app.schedules.runNow("report", by)
    const first = await byHand()
    await app.clock.advance("10m")
    const [second, third] = [await byHand(), await byHand()]
    await app.clock.advance("10m")
    const found = await pages(app, 1)
    const brief = found.map(({ run, byHand: mark, generation, state }, index) => {
      return { at: times(found)[index], run, mark, generation, state }
    })
    const fired = { run: expect.any(String), mark: undefined, generation: 1, state: "succeeded" }
    const asked = { mark: true, generation: 1, state: "succeeded" }
    expect(brief).toEqual([
      { at: "09:20", ...fired },
      { at: "09:10", ...fired },
      { at: "09:10", ...asked, ...second },
      { at: "09:10", ...asked, ...third },
      { at: "09:00", ...asked, ...first },
    ])
    const span = { from: new Date("2026-03-02T09:00Z"), to: new Date("2026-03-02T09:20Z"), reprocess: "all" }
    expect(await app.schedules.backfill("report", { ...by, ...span, dryRun: true } as never)).toEqual({
      count: 2,
    })
  })

  it.each([
    "",
    "[]",
    "x",
    btoa("[1]"),
    btoa('["2026",1]'),
    btoa("[1,2,3]"),
    btoa("[1,0.5]"),
    btoa("[1e99,1]"),
  ])("refuse a cursor that is none: %j", async (cursor) => {
    await using app = await stage()
    await expect(app.schedules.fires("report", { cursor })).rejects.toThrow(/cursor.*earlier page/s)
  })

  it("report planned ones with the time each is due, and write nothing", async () => {
    await using app = await stage({ jitter: "5m" } as object)
    const coming = await app.schedules.planned("report", { limit: 3 })
    expect(times(coming)).toEqual(["09:10", "09:20", "09:30"])
    const { next } = (await app.schedules.get("report")) ?? {}
    expect(coming[0]).toEqual(next)
    const later = await app.schedules.planned("report", { limit: 2, after: coming[2]?.occurrence as Date })
    expect(times(later)).toEqual(["09:40", "09:50"])
    expect((await app.schedules.fires("report")).fires).toEqual([])
    await app.clock.advance("35m")
    const { fires } = await app.schedules.fires("report")
    expect(fires.map(({ due }) => due).toReversed()).toEqual(coming.map(({ due }) => due))
  })

  it("report planned ones from the end of a pause on, and none when it has no end", async () => {
    await using app = await stage()
    await app.schedules.pause("report", { ...by, until: new Date("2026-03-02T10:05Z") })
    expect(times(await app.schedules.planned("report", { limit: 2 }))).toEqual(["10:10", "10:20"])
    await app.schedules.resume("report", by)
    await app.schedules.pause("report", by)
    expect(await app.schedules.planned("report")).toEqual([])
  })

  it("report no more planned ones than the schedule has runs left", async () => {
    await using app = await stage({ maxRuns: 3 } as object)
    await app.clock.advance("10m")
    expect(times(await app.schedules.planned("report"))).toEqual(["09:20", "09:30"])
    await app.clock.advance("1h")
    expect(await app.schedules.planned("report")).toEqual([])
  })

  it("refuse an unknown schedule and unknown options", async () => {
    await using app = await stage()
    await expect(app.schedules.planned("another")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" })
    await expect(app.schedules.fires("another")).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" })
    await expect(app.schedules.planned("report", { limit: 0 })).rejects.toThrow(/limit/)
    await expect(app.schedules.planned("report", { after: 7 } as never)).rejects.toThrow(/after/)
  })
})
