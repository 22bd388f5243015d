/** Backfills beside each other and beside other writers: each occurrence gets one run. */
import { expect, it } from "vitest"
import { type BackfillRequest, backfillSchedule } from "../../src/operations/schedules/backfill.ts"
import { makeFirePartitions } from "../../src/store/fires/partitions.ts"
import { lockSchedule } from "../../src/store/schedules/lock.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { describeEngines } from "../support/engines.ts"
import { addSchedule, type NewSchedule } from "../support/schedules.ts"
import { execute, hold, rowsOf, untilBlocked } from "../support/sql.ts"

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

describeEngines("backfills", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  async function stage(schedule: Partial<NewSchedule> = {}) {
    const runtime = await engine.migrated()
    const clock = await takeClock(runtime.database, "2026-03-02T09:00Z")
    await makeFirePartitions(runtime.database)
    const id = await addSchedule(runtime, { spec: { every: "1s" }, name: "report", ...schedule })
    const request: BackfillRequest = {
      name: "report",
      tenant: "",
      by: { actor: "ada", reason: "a test" },
      from: at("08:00"),
      to: at("08:20"),
      reprocess: "missing",
      order: "oldest",
      maxParallel: 1,
      priority: undefined,
      isForced: false,
      isDryRun: false,
      sharesOverlap: false,
    }
    const fill = (more: Partial<BackfillRequest> = {}, over: Partial<typeof runtime> = {}) =>
      backfillSchedule({ runtime: { ...runtime, ...over }, tell: () => {} }, { ...request, ...more })
    const rows = (query: string) => rowsOf(runtime.database, query)
    return { runtime, clock, id, fill, rows }
  }

  it("are audited with actor and range, once, and not at all when they made nothing", async () => {
    const { id, fill, rows } = await stage()
    await fill({ isDryRun: true })
    await fill({ order: "newest", maxParallel: 3 })
    await fill()
    expect(await rows("select actor, action, subject, reason, after from {audit}")).toEqual([
      {
        actor: "ada",
        action: "schedule.backfill",
        subject: `schedule:${id}`,
        reason: "a test",
        after: {
          from: "2026-03-02T08:00:00.000Z",
          to: "2026-03-02T08:20:00.000Z",
          reprocess: "missing",
          order: "newest",
          maxParallel: 3,
          sharesOverlap: false,
        },
      },
    ])
    expect(await rows("select name, cap from {limits}")).toEqual([{ name: "backfill:3", cap: 3 }])
  })

  itWithConnections.each(["missing", "all"] as const)(
    "of %s that are called at once, from both ends, make one run of each between them",
    async (reprocess) => {
      const { fill, rows } = await stage()
      const made = await Promise.all([
        fill({ reprocess }),
        fill({ reprocess, order: "newest" }),
        fill({ reprocess }),
        fill({ reprocess, order: "newest" }),
      ])
      expect(made.reduce((sum, { runs }) => sum + runs, 0)).toBe(1_200)
      expect(
        await rows("select count(*)::int as runs, count(distinct occurrence)::int as of from {runs}"),
      ).toEqual([{ runs: 1_200, of: 1_200 }])
      expect(await rows("select count(*)::int as n, max(generation) as last from {fires}")).toEqual([
        { n: 1_200, last: 1 },
      ])
    },
  )

  itWithConnections("leave an occurrence to the first writer", async () => {
    const { runtime, id, fill, rows } = await stage()
    const other = await hold(
      runtime.database,
      `insert into {fires} (schedule, occurrence, outcome, decided_at, run, last)
         values ('${id}', '2026-03-02T08:00:07Z', 'fired', now(), gen_random_uuid(), '2026-03-02T08:00:07Z')`,
    )
    const filling = fill({ to: at("08:00:10") })
    await untilBlocked(runtime.database)
    await other.release()
    expect(await filling).toEqual({ count: 10, runs: 9 })
    expect(await rows("select from {runs} where occurrence = '2026-03-02T08:00:07Z'")).toEqual([])
  })

  itWithConnections("of a pause wait for a resume in flight, and take what that left", async () => {
    const { runtime, clock, id, fill } = await stage({ spec: { every: "1m" } })
    await execute(
      runtime.database,
      "update {schedules} set state = 'paused', paused_at = '2026-03-02T09:00:30Z', next_at = null, " +
        "next_occurrence = null",
    )
    await clock.set("2026-03-02T09:10Z")
    const other = await hold(runtime.database, async (tx) => {
      await tx.run(lockSchedule, { tenant: "", name: "report" })
      await tx.script(`
        update {schedules} set state = 'active', paused_at = null, cursor = '2026-03-02T09:05Z';
        insert into {fires} (schedule, occurrence, outcome, reason, decided_at, last, count)
          values ('${id}', '2026-03-02T09:01Z', 'skipped', 'paused', now(), '2026-03-02T09:05Z', 5);`)
    })
    const filling = fill({ from: at("09:00:30"), to: at("09:10") })
    await untilBlocked(runtime.database)
    await other.release()
    // Up to the schedule's cursor: later occurrences belong to the schedule again.
    expect(await filling).toEqual({ count: 5, runs: 5 })
  })

  it("of schedules without times of their own are refused", async () => {
    const { fill } = await stage({ spec: { afterCompletion: "10m" } })
    await expect(fill()).rejects.toThrow(/no occurrence that it could have missed/)
  })

  it("of months without a ledger partition create it", async () => {
    const { fill, rows } = await stage({ spec: { cron: "0 0 1 * *" } })
    expect(
      await fill({ from: Date.parse("2019-01-01T00:00Z"), to: Date.parse("2020-01-01T00:00Z") }),
    ).toEqual({
      count: 12,
      runs: 12,
    })
    expect(await rows("select count(distinct tableoid)::int as months from {fires}")).toEqual([
      { months: 12 },
    ])
  })

  it("end when their schedule is deleted, and leave no occurrence without its run", async () => {
    const { runtime, fill, rows } = await stage()
    const crashPoint = async () => {
      await execute(runtime.database, "delete from {schedules}")
    }
    await expect(fill({}, { crashPoint })).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" })
    expect(
      await rows("select count(*)::int as fires, (select count(*)::int from {runs}) as runs from {fires}"),
    ).toEqual([{ fires: 500, runs: 500 }])
  })

  it("continue by the new definition when their schedule is edited meanwhile", async () => {
    const { runtime, fill, rows } = await stage()
    const crashPoint = async () => {
      await execute(runtime.database, `update {schedules} set spec = '{"every":"1m"}', version = version + 1`)
    }
    // 500 seconds, then each minute from 08:09 to 08:19.
    expect(await fill({}, { crashPoint })).toEqual({ count: 511, runs: 511 })
    expect(await rows("select count(*)::int as n from {runs}")).toEqual([{ n: 511 }])
  })
})
