/** Random pauses, resumes, starts and stops: every run ends up where it belongs. */
import fc from "fast-check"
import { expect, it } from "vitest"
import type { Mover } from "../../src/engine/queue/mover.ts"
import type { Database } from "../../src/store/database.ts"
import { describeEngines } from "../support/engines.ts"
import {
  addRuns,
  addWorker,
  moveAll,
  openStage,
  pauseBy,
  resumeBy,
  type Stage,
  watchMover,
} from "../support/parking.ts"
import { execute, rowsOf } from "../support/sql.ts"

const JOBS = ["a", "b", "c"] as const
const POOLS = ["x", "y"] as const
const TENANTS = ["s", "t"] as const

const job = fc.constantFrom(...JOBS)
const pool = fc.constantFrom(...POOLS)
const tenant = fc.constantFrom("", ...TENANTS)

const target = fc.oneof(
  fc.record({ kind: fc.constant("job" as const), name: job }),
  fc.record({ kind: fc.constant("pool" as const), name: pool }),
  fc.record({ kind: fc.constant("tenant" as const), name: fc.constantFrom(...TENANTS) }),
  fc.record({ kind: fc.constant("everything" as const), name: fc.constant("") }),
)

/** One random event. */
const happening = fc.oneof(
  fc.record({ what: fc.constant("enqueue" as const), job, pool, tenant, limits: fc.subarray(["some"]) }),
  fc.record({ what: fc.constant("pause" as const), target }),
  fc.record({ what: fc.constant("resume" as const), target }),
  fc.record({
    what: fc.constant("start" as const),
    jobs: fc.subarray([...JOBS], { minLength: 1 }),
    pools: fc.subarray([...POOLS], { minLength: 1 }),
  }),
  fc.record({ what: fc.constant("stop" as const) }),
  fc.record({ what: fc.constant("wait" as const) }),
  fc.record({ what: fc.constant("move" as const) }),
)
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

async function happen(event: Happening, { database, clock }: Stage, mover: Mover): Promise<void> {
  switch (event.what) {
    case "enqueue":
      return addRuns(database, 2, event)
    case "pause":
      await resumeBy(database, event.target.kind, event.target.name)
      return pauseBy(database, event.target.kind, event.target.name)
    case "resume":
      return resumeBy(database, event.target.kind, event.target.name)
    case "start":
      await addWorker(database, { ...event, leaseMs: 10_000_000 })
      return
    case "stop":
      return execute(database, "update {workers} set dead = true, expires_at = {now}")
    case "wait":
      return clock.set(new Date((await clock.now()).getTime() + 70_000))
    case "move":
      await moveAll(mover)
  }
}

/** Rows in a wrong place, once everything that can be moved has been. */
const MISPLACED = `
  with run as (
    select coalesce(parked_for, {schema}.state(runs)) as place, {runs}.rank, limited, admitted,
      exists (
        select from {pauses} as pause
        where (pause.kind, pause.name) in (('job', job), ('pool', pool), ('tenant', tenant), ('everything', ''))
      ) as paused,
      exists (
        select from {workers} as worker
        where not dead and expires_at > {now} and job = any (worker.jobs) and pool = any (worker.pools)
      ) as handled,
      exists (
        select from {workers} as worker
        where (not dead or expires_at > {now}) and job = any (worker.jobs) and pool = any (worker.pools)
      ) as expected
    from {runs}
    left join {run_limits} on run = id
  )
  select * from run
  where place in ('pause', 'tenant') and not paused
    or place = 'handler' and handled
    or place = 'ready' and paused
    or place = 'ready' and not expected and rank < (extract(epoch from {now}) * 1000000)::bigint - 60000000
    or limited and admitted is distinct from (case place when 'ready' then true when 'limit' then false end)
    or place = 'limit' and not limited`

const count = async (database: Database) =>
  (await rowsOf(database, "select count(*)::int from {runs}"))[0]?.["count"]

describeEngines(
  "runs under random pauses and restarts",
  (engine) => {
    it("are all there, and all in the right place", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 40, size: "max" }), async (story) => {
          const stage = await openStage(engine)
          const { runtime, database } = stage
          const { mover } = watchMover(runtime)
          const enqueued = 2 * story.filter(({ what }) => what === "enqueue").length
          for (const event of story) await happen(event, stage, mover)
          expect(await count(database)).toBe(enqueued)
          // What one move returns, the next may have to park for another reason; then all is quiet.
          for (const _ of [1, 2, 3]) await moveAll(mover)
          expect(await rowsOf(database, MISPLACED)).toEqual([])
          const settled = await rowsOf(database, "select xmin::text, id from {runs} order by id")
          await moveAll(mover)
          expect(await rowsOf(database, "select xmin::text, id from {runs} order by id")).toEqual(settled)
          expect(await count(database)).toBe(enqueued)
        }),
        { numRuns: 25 },
      )
    }, 120_000)
  },
  ["PostgreSQL 18"],
)
