/** What a claim costs: counted in rows and index entries, not in milliseconds. */
import { expect, it } from "vitest"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { describeEngines, SERVERS } from "../support/engines.ts"
import { addRuns } from "../support/parking.ts"
import { executedPlan } from "../support/plan.ts"
import { claim, host, lanesOf, openLease } from "../support/runs.ts"
import { rowsOf } from "../support/sql.ts"

const MANY = 2_000

describeEngines(
  "a claim",
  (engine) => {
    it("writes no index: each run's new version stands on the page of the old one", async () => {
      const { database } = await engine.migrated()
      await addRuns(database, MANY)
      const lease = await openLease(database)
      const [written] = await database.transaction(async (tx) => {
        expect((await claim(tx, lease, { limit: MANY })).ids).toHaveLength(MANY)
        return rowsOf(
          tx,
          `select pg_stat_get_xact_tuples_updated(oid)::int as rows, pg_stat_get_xact_tuples_hot_updated(oid)::int as beside
           from pg_class where oid = '"${database.schema}".runs'::regclass`,
        )
      })
      expect(written).toEqual({ rows: MANY, beside: MANY })
    })

    it("that begins where the last one ended walks over nothing of what is running", async () => {
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
