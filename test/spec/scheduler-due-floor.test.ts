/** Where reading every due schedule takes long, the scheduler reads from its floor on, and misses nothing. */
import { expect, it } from "vitest"
import type { Duration } from "../../src/time/duration.ts"
import { describeEngines } from "../support/engines.ts"
import { openSchedulerStage } from "../support/scheduler-stage.ts"
import { execute } from "../support/sql.ts"

const every = (interval: Duration) => ({ every: interval })

describeEngines("a scheduler whose full look took long", (engine) => {
  async function stageOfFirst() {
    const staged = await openSchedulerStage(engine)
    const { runtime, database, time } = staged
    /** The next look takes 10 ms: after a full look, the looks of the next half second begin at the floor. */
    const slow = () =>
      database.meddle("schedules/next-due", async (run) => {
        time.ms += 10
        return run()
      })
    /** The schedule is due for a past moment, and no wake-up says so. */
    const cameDue = (id: string) =>
      execute(runtime.database, `update {schedules} set next_at = '2026-03-02T09:01Z' where id = '${id}'`)
    const finish = (id: string) => execute(runtime.database, `delete from {runs} where schedule = '${id}'`)
    return { ...staged, slow, cameDue, finish }
  }

  /** The very first look registers the zone data of its process. This one is over. */
  async function stage() {
    const staged = await stageOfFirst()
    await staged.at("09:00")
    return staged
  }

  it("finds schedules with a zone, although the first look could not see them", async () => {
    const { add, at, runs, slow } = await stageOfFirst()
    const id = await add({ spec: { cron: "5 9 * * *", timeZone: "Europe/London" }, overlap: "allow" })
    slow()
    await at("09:10")
    expect(await runs(id)).toHaveLength(1)
  })

  it("looks from its floor for fifty times as long, and then at everything", async () => {
    const { add, at, runs, time, slow, cameDue } = await stage()
    const ahead = await add({ spec: every("10m"), overlap: "allow" })
    const behind = await add({ spec: every("20m"), overlap: "allow" })
    slow()
    await at("09:10")
    await cameDue(behind)
    time.ms += 499
    await at("09:20")
    expect(await runs(ahead)).toHaveLength(2)
    expect(await runs(behind)).toEqual([])
    time.ms += 1
    await at("09:20")
    expect(await runs(behind)).toHaveLength(1)
  })

  it("looks at everything after a wake-up about a change", async () => {
    const { add, at, runs, scheduler, slow, cameDue } = await stage()
    const id = await add({ spec: every("20m"), overlap: "allow" })
    slow()
    await at("09:10")
    await cameDue(id)
    await at("09:20")
    expect(await runs(id)).toEqual([])
    scheduler.bell.ring()
    await at("09:20")
    expect(await runs(id)).toHaveLength(1)
  })

  it("returns to a schedule that was held up, again and again", async () => {
    const { add, at, runs, slow, finish } = await stage()
    const id = await add({ spec: every("1m"), misfire: "all", overlap: "queue", maxQueued: 2 })
    await at("09:20")
    slow()
    const made: unknown[] = []
    for (let second = 2; second < 40; second += 2) {
      await at(`09:20:${String(second).padStart(2, "0")}`)
      made.push(...(await runs(id)).map(({ occurrence }) => occurrence))
      await finish(id)
    }
    expect(new Set(made).size).toBe(20)
  })
})
