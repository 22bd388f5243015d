/** An occurrence whose run ended long ago: only the ledger knows that it had one, and that is enough. */
import { expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { takeClock } from "../../src/testing/clock.ts"
import { openEngineStage } from "../support/engine-stage.ts"
import { describeEngines } from "../support/engines.ts"
import { addSchedule, ledgerOf } from "../support/schedules.ts"
import { execute, rowsOf } from "../support/sql.ts"

const NEVER = new AbortController().signal
const OCCURRENCE = "2026-03-02T09:10:00Z"

describeEngines("an occurrence whose run has been settled", (engine) => {
  /** One occurrence that fired, and how often its handler was called. */
  async function settledOccurrence() {
    const called: unknown[] = []
    const job = defineJob({
      name: "work",
      run: async (_input, ctx) => {
        called.push(ctx.occurrence?.toISOString())
      },
    })
    const runtime = await engine.migrated()
    const { database } = runtime
    const clock = await takeClock(database, "2026-03-02T09:00Z")
    const stage = await openEngineStage(runtime, { jobs: [job] })
    const id = await addSchedule(runtime, { spec: { every: "10m" }, overlap: "allow" })
    const work = async () => {
      await stage.engine.scheduler.tick(NEVER)
      await stage.tick()
      await stage.settled()
    }
    await clock.set(OCCURRENCE)
    await work()
    return {
      database,
      id,
      work,
      called,
      runs: () => rowsOf(database, "select id from {runs}"),
      ended: () => rowsOf(database, "select run, run_state from {attempts}"),
      ledger: () => ledgerOf(runtime, id),
    }
  }

  it("gets no second run when the cursor is set back before it and passes the comparison", async () => {
    const { database, id, work, called, runs, ended, ledger } = await settledOccurrence()
    const before = { ended: await ended(), ledger: await ledger() }
    expect(before.ended).toMatchObject([{ run_state: "succeeded" }])
    // A scheduler that reads it now finds the wrong cursor in the row too, so its compare-and-set succeeds.
    await execute(
      database,
      `update {schedules} set cursor = '2026-03-02T09:00Z', next_occurrence = '${OCCURRENCE}', next_at = '${OCCURRENCE}'
        where id = '${id}'`,
    )
    await work()
    const [schedule] = await rowsOf(
      database,
      "select state, cursor = '2026-03-02T09:10Z' as is_decided from {schedules}",
    )
    expect(schedule).toEqual({ state: "active", is_decided: true })
    expect(await runs()).toEqual([])
    expect({ ended: await ended(), ledger: await ledger() }).toEqual(before)
    expect(called).toEqual(["2026-03-02T09:10:00.000Z"])
  })

  it("is refused by a constraint when it is written a second time", async () => {
    const { database, id, ledger } = await settledOccurrence()
    const insert = (generation: number) =>
      execute(
        database,
        `insert into {fires} (schedule, occurrence, generation, outcome, due_at, decided_at, run, last)
          values ('${id}', '${OCCURRENCE}', ${generation}, 'fired', '${OCCURRENCE}', {now},
            '${"0".repeat(8)}-0000-8000-8000-${"0".repeat(12)}', '${OCCURRENCE}')`,
      )
    await expect(insert(1)).rejects.toMatchObject({ sqlState: "23505" })
    expect(await ledger()).toHaveLength(1)
    // The occurrence was refused, and not another column of the row.
    await insert(2)
    expect(await ledger()).toHaveLength(2)
  })
})
