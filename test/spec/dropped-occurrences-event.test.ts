/** Occurrences that a bounded misfire policy drops are reported: once for each stretch. */
import { expect, it } from "vitest"
import { type CarillonEvent, defineJob } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { linesOf } from "../support/log-lines.ts"
import { openSchedulerStage } from "../support/scheduler-stage.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute } from "../support/sql.ts"
import { createWatchedKit } from "../support/watched-app.ts"

const at = (time: string) => new Date(`2026-03-02T${time}Z`)
const every = (interval: "1m" | "10m") => ({ every: interval }) as const
const dropped = (events: readonly CarillonEvent[]) => events.filter(({ type }) => type === "schedule.dropped")

describeEngines("what a misfire policy drops", (engine) => {
  it.each([
    ["max", { max: 2 }, { first: at("09:10"), last: at("09:40"), count: 4 }],
    ["within", { within: "15m" }, { first: at("09:10"), last: at("09:40"), count: 4 }],
  ] as const)(
    "because of %s is reported once, with its first, its last and its count",
    async (bound, limits, stretch) => {
      const { add, at: tickAt, events, ledger } = await openSchedulerStage(engine)
      const id = await add({
        name: "s",
        spec: every("10m"),
        misfire: { mode: "all", ...limits },
        overlap: "allow",
      })
      await tickAt("10:00")
      await tickAt("10:01")
      expect(dropped(events)).toEqual([
        { type: "schedule.dropped", schedule: id, name: "s", ...stretch, bound, misfire: "all" },
      ])
      expect(await ledger(id)).toMatchObject([
        { occurrence: "09:10:00", outcome: "skipped", reason: "limit", count: 4, run: null },
        { occurrence: "09:50:00", outcome: "fired" },
        { occurrence: "10:00:00", outcome: "fired" },
      ])
    },
  )

  it("is reported again for the next stretch, and not where nothing was dropped", async () => {
    const { add, at: tickAt, events } = await openSchedulerStage(engine)
    await add({ spec: every("10m"), misfire: { mode: "all", max: 1 }, overlap: "allow" })
    await add({ spec: every("10m"), misfire: "all", overlap: "allow" })
    await add({ spec: every("10m"), misfire: "latest", overlap: "allow" })
    for (const time of ["09:10", "09:30", "09:40", "10:00"]) await tickAt(time)
    expect(dropped(events)).toMatchObject([
      { first: at("09:20"), last: at("09:20"), count: 1 },
      { first: at("09:50"), last: at("09:50"), count: 1 },
    ])
  })

  it("is reported for `latest`, when the newest is too late as well", async () => {
    const { add, at: tickAt, events } = await openSchedulerStage(engine)
    await add({ spec: every("10m"), misfire: { mode: "latest", within: "1m" } })
    await tickAt("09:35")
    expect(dropped(events)).toMatchObject([
      { first: at("09:10"), last: at("09:30"), count: 3, bound: "within", misfire: "latest" },
    ])
  })

  it("is collected while the schedule waits for its runs, and reported now and then", async () => {
    const { add, at: tickAt, events, runtime } = await openSchedulerStage(engine)
    const id = await add({
      spec: every("1m"),
      misfire: { mode: "all", within: "2m" },
      overlap: "allow",
      maxQueued: 1,
    })
    for (let minute = 1; minute < 30; minute += 1) {
      await tickAt(`09:${String(minute).padStart(2, "0")}:30`)
      await tickAt(`09:${String(minute).padStart(2, "0")}:40`)
    }
    const told = () => dropped(events) as Extract<CarillonEvent, { type: "schedule.dropped" }>[]
    expect(told().length).toBeLessThan(5)
    await execute(runtime.database, `delete from {runs} where schedule = '${id}'`)
    await tickAt("09:31")
    expect(told().reduce((sum, { count }) => sum + count, 0)).toBe(27)
    expect(told()[0]?.first).toEqual(at("09:02"))
    expect(told().at(-1)?.last).toEqual(at("09:28"))
  })
})

it("is logged as a warning that names the backfill", () => {
  const event = {
    type: "schedule.dropped",
    ...{ schedule: "x", name: "nightly", first: at("09:10"), last: at("09:40"), count: 4 },
    bound: "max",
  } as const
  const lines = linesOf([
    { ...event, misfire: "all" },
    { ...event, misfire: "latest" },
  ])
  expect(lines[0]).toBe(
    "warn: schedule nightly made no runs for 4 missed occurrences from 2026-03-02T09:10:00.000Z to " +
      "2026-03-02T09:40:00.000Z, because they were more than `max` of its misfire policy; " +
      "`schedules.backfill` makes them",
  )
  expect(lines[1]).toMatch(/^info: /)
})

it("is reported by an edit and by a resume that decide due occurrences, too", async () => {
  const kit = await createWatchedKit(SERVER_URLS.postgres18)
  const job = defineJob({ name: "work", run: async () => {} })
  const app = await kit.app({ jobs: [job], at: "2026-03-02T09:00Z" })
  const by = { actor: "ada", reason: "a test" }
  const options = { job, every: "10m", misfire: { mode: "all", max: 1 }, overlap: "allow" } as const
  await app.schedules.create({ name: "edited", ...options })
  await app.schedules.create({ name: "resumed", ...options })
  await app.clock.set(at("09:35"))
  await app.schedules.put({ name: "edited", ...options, every: "20m" }, by)
  await app.schedules.pause("resumed", by)
  await app.schedules.resume("resumed", by)
  expect(dropped(app.events)).toMatchObject([
    { name: "edited", first: at("09:10"), count: 2 },
    { name: "resumed", first: at("09:10"), count: 2 },
  ])
  await app.close()
  await kit.close()
})
