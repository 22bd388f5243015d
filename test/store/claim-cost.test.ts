/** What a claim costs: counted in rows and index entries, not in milliseconds. */
import { expect, it } from "vitest"
import type { Database } from "../../src/store/database.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { executedPlan } from "../support/executed-plan.ts"
import { addRuns } from "../support/parking.ts"
import { claim, EVER, host, insert, lanesOf, openLease, withStoppedClock } from "../support/runs.ts"
import { hold, rowsOf } from "../support/sql.ts"

const MANY = 2_000

/**
 * How many rows one claim of everything writes, and how many of them on the page of the old version, without an
 * index.
 */
async function writtenByClaim(database: Database, lease: string): Promise<unknown> {
  const written = `
    select pg_stat_get_xact_tuples_updated(oid)::int as rows, pg_stat_get_xact_tuples_hot_updated(oid)::int as beside
    from pg_class where oid = '"${database.schema}".runs'::regclass`
  return database.transaction(async (tx) => {
    const [before] = await rowsOf(tx, written)
    expect((await claim(tx, lease, { limit: MANY })).ids).toHaveLength(MANY)
    const [after] = await rowsOf(tx, written)
    const since = (key: string) => Number(after?.[key]) - Number(before?.[key])
    return { rows: since("rows"), beside: since("beside") }
  })
}

describeEngines(
  "a claim",
  (engine) => {
    it("writes no index: each new row version stands on the page of the old one", async () => {
      const { database } = await engine.migrated()
      await addRuns(database, MANY)
      const lease = await openLease(database)
      expect(await writtenByClaim(database, lease)).toEqual({ rows: MANY, beside: MANY })
    })

    it("writes no index for delayed runs either, also under an old snapshot", async () => {
      const { database, clock } = await withStoppedClock(engine)
      await insert(database, ...Array.from({ length: MANY }, () => ({ delayMs: 1_000 })))
      const snapshot = await hold(
        database,
        "set transaction isolation level repeatable read; select count(*) from {runs}",
      )
      await clock.set("2026-03-01T09:00:01Z")
      await database.run(promoteRuns, { from: 0, to: EVER, limit: MANY })
      expect(await writtenByClaim(database, await openLease(database))).toEqual({ rows: MANY, beside: MANY })
      await snapshot.release()
    })

    it("that begins where the last one ended walks over no running run", async () => {
      const { database } = await engine.migrated()
      await addRuns(database, MANY)
      const lease = await openLease(database)
      await claim(database, lease, { limit: MANY })
      const [last] = await rowsOf(database, "select max(rank)::text as rank from {runs}")
      await addRuns(database, 1)
      const fence = { lease, claim: host.randomBits() }
      const asked = { pool: "default", jobs: ["greet"], except: [], limit: 10 }
      const lanes = lanesOf([{ priority: 0 }], 10)
      const plan = await executedPlan(database, claimRuns, {
        ...{ ...fence, ...asked, ...lanes },
        froms: [BigInt(String(last?.["rank"]))],
      })
      const scan = plan.find(({ index }) => index === "runs_queued")
      expect(scan?.rows).toBeLessThanOrEqual(2)
    })
  },
  SERVERS,
)
