/** Every statement that must not slow down with the backlog, with its parameters and the indexes that serve it. */
import type { Database } from "../../src/store/database.ts"
import { discardBatch } from "../../src/store/dead-letters/discard-batch.ts"
import { replayBatch } from "../../src/store/dead-letters/replay-batch.ts"
import { findKeys } from "../../src/store/keys/find.ts"
import { forgetKeys } from "../../src/store/keys/forget.ts"
import { takeKeys } from "../../src/store/keys/take.ts"
import { admitRuns } from "../../src/store/limits/admit.ts"
import { nextInLine } from "../../src/store/limits/next-in-line.ts"
import { openWaves } from "../../src/store/limits/open-waves.ts"
import { roomUnderLimits } from "../../src/store/limits/room.ts"
import { limitsWithRoom } from "../../src/store/limits/with-room.ts"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { completeRuns } from "../../src/store/runs/complete.ts"
import { completeScheduledRuns } from "../../src/store/runs/complete-scheduled.ts"
import { delayRun } from "../../src/store/runs/delay.ts"
import { editRun } from "../../src/store/runs/edit.ts"
import { expediteRun } from "../../src/store/runs/expedite.ts"
import { findCancelled } from "../../src/store/runs/find-cancelled.ts"
import { findClaimed } from "../../src/store/runs/find-claimed.ts"
import { findVisible } from "../../src/store/runs/find-visible.ts"
import { lockRunForChange } from "../../src/store/runs/lock-for-change.ts"
import { lookAround } from "../../src/store/runs/look.ts"
import { moveRun } from "../../src/store/runs/move.ts"
import { nextDue } from "../../src/store/runs/next-due.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { recordProgress } from "../../src/store/runs/record-progress.ts"
import { recordStart } from "../../src/store/runs/record-start.ts"
import { settleRuns } from "../../src/store/runs/settle.ts"
import type { Statement } from "../../src/store/statement.ts"
import { ways } from "./attempt-ends.ts"
import { executedPlan, type PlanNode } from "./executed-plan.ts"
import { wholeLines } from "./limits.ts"
import {
  type Claimed,
  completeParams,
  EVER,
  host,
  killLease,
  lanesOf,
  openLease,
  type Runner,
  settleParams,
} from "./runs.ts"
import { execute, rowsOf } from "./sql.ts"

export const BATCH = 128
/** Ready and running. */
const QUEUE = 300_000

/** The material of the parameters: runs of every kind, as far as there are some. */
export interface Hot {
  readonly claimed: Claimed
  /** The same under a lease that is dead. */
  readonly lost: Claimed
  readonly ready: string
  readonly waiting: string
  readonly dead: string
  /** Of runs that stand in line. */
  readonly parked: readonly string[]
}

export interface HotStatement {
  readonly run: (on: Runner, hot: Hot) => Promise<unknown>
  readonly plan: (database: Database, hot: Hot) => Promise<PlanNode[]>
  /** The indexes of large tables that it uses, beside primary keys. */
  readonly indexes: readonly string[]
  /** How many rows of one large table it may read. */
  readonly most: number
}

function hot<P, R>(
  statement: Statement<P, R>,
  params: (of: Hot) => P,
  indexes: readonly string[] = [],
  most = 2 * BATCH,
): HotStatement {
  return {
    run: (on, of) => on.run(statement, params(of)),
    plan: (database, of) => executedPlan(database, statement, params(of)),
    indexes,
    most,
  }
}

const ANY = { pool: "default", jobs: ["greet"], except: [], limit: BATCH }
const LANES = [0, 1, 2].flatMap((priority) => [false, true].map((solo) => ({ solo, priority })))
const claimFrom = (lanes: typeof LANES) => (of: Hot) => ({
  ...{ ...ANY, lease: of.claimed.lease, claim: host.randomBits() },
  ...lanesOf(lanes, BATCH),
})
const fenceOf = ({ claimed }: Hot) => ({
  id: claimed.ids[0] ?? "",
  lease: claimed.lease,
  claim: claimed.claim,
})
const wanted = Array.from({ length: BATCH }, (_, n) => `key ${n}`)

export const HOT: Readonly<Record<string, HotStatement>> = {
  "claim from one lane": hot(claimRuns, claimFrom(LANES.slice(0, 1)), ["runs_queued"]),
  // They walk over running runs.
  "claim from six lanes": hot(claimRuns, claimFrom(LANES), ["runs_queued"], 4 * BATCH),
  "claim from the middle of a lane": hot(
    claimRuns,
    (of) => ({ ...claimFrom(LANES.slice(0, 1))(of), froms: [150_000n] }),
    ["runs_queued"],
  ),
  settle: hot(settleRuns, ({ claimed: { lease, claim: number, ids } }) =>
    settleParams(
      lease,
      ids.map((id, place) => ({ id, claim: number, ...ways[place % ways.length]?.[1] })),
    ),
  ),
  complete: hot(completeRuns, ({ claimed: { lease, claim: number, ids } }) =>
    completeParams(
      lease,
      ids.map((id) => ({ id, claim: number })),
    ),
  ),
  "complete-scheduled": hot(completeScheduledRuns, ({ claimed: { lease, claim: number, ids } }) =>
    completeParams(
      lease,
      ids.map((id) => ({ id, claim: number })),
    ),
  ),
  reap: hot(reapRuns, ({ lost }) => ({ leases: [lost.lease], limit: BATCH })),
  promote: hot(promoteRuns, () => ({ from: 0, to: EVER, limit: BATCH }), ["runs_waiting"]),
  "next-due": hot(nextDue, () => ({ from: 0 }), ["runs_waiting"]),
  look: hot(
    lookAround,
    ({ claimed: { lease } }) => ({
      lease,
      pool: "default",
      solos: [false, true, false],
      aboves: [-9n, -9n, 0n],
      belows: [9n, 9n, 2n],
    }),
    ["runs_queued"],
    4 * BATCH,
  ),
  "find-claimed": hot(findClaimed, ({ claimed: { lease, claim: number } }) => ({ lease, claims: [number] })),
  "find-cancelled": hot(findCancelled, ({ claimed }) => ({ lease: claimed.lease }), ["runs_cancelling"]),
  "find-visible": hot(findVisible, ({ claimed }) => ({ ids: claimed.ids })),
  "record-start": hot(recordStart, fenceOf),
  "record-progress": hot(recordProgress, (of) => ({ ...fenceOf(of), progress: "1" })),
  "cancel a ready run": hot(cancelRun, ({ ready }) => ({ id: ready, code: "C", message: "no" })),
  "cancel a run in line": hot(cancelRun, ({ parked }) => ({ id: parked[0] ?? "", code: "C", message: "no" })),
  expedite: hot(expediteRun, ({ waiting }) => ({ id: waiting, priority: 1 })),
  "lock for a change": hot(lockRunForChange, ({ waiting }) => ({ id: waiting })),
  delay: hot(delayRun, ({ parked }) => ({ id: parked[0] ?? "", until: null, byMs: 1 })),
  move: hot(moveRun, ({ ready }) => ({ id: ready, pool: "side" })),
  edit: hot(editRun, ({ parked }) => ({ id: parked[0] ?? "", priority: 1, tags: '["a"]', input: "1" })),
  replay: hot(replayBatch, ({ dead }) => ({
    ...{ runs: [dead], generations: [null], actor: "ada", reason: "" },
    ...{ input: null, inputBefore: null, inputAfter: null },
  })),
  discard: hot(discardBatch, ({ dead }) => ({ runs: [dead], generations: [null], actor: "ada", reason: "" })),
  admit: hot(
    admitRuns,
    ({ parked }) => ({
      ids: parked,
      keys: ["big", ...Array.from({ length: 1_000 }, (_, n) => `some ${n}`)],
    }),
    [],
    // Of each key it reads the last wave.
    1_000,
  ),
  room: hot(
    roomUnderLimits,
    () => ({ keys: ["big", "some 1", "some 2"], limits: ["wide", "wide", "unknown"] }),
    ["run_limits_admitted"],
  ),
  "open-waves": hot(openWaves, () => ({ keys: ["big", "some 1", "some 2"] }), ["run_limits_admitted"]),
  "next-in-line": hot(nextInLine, () => ({ ...wholeLines(["big"]), full: ["other"], limit: BATCH }), [
    "run_limits_parked",
  ]),
  "next-in-line from the middle of a line": hot(
    nextInLine,
    () => ({
      ...{
        keys: ["big"],
        aboves: [0n],
        belows: [9n],
        markedKeys: ["big"],
        priorities: [0],
        froms: [25_000n],
      },
      ...{ full: [], limit: BATCH },
    }),
    ["run_limits_parked"],
  ),
  // Of each key it counts the admitted runs.
  "with-room": hot(
    limitsWithRoom,
    () => ({ after: "", limit: BATCH }),
    ["run_limits_parked", "run_limits_admitted"],
    10 * BATCH,
  ),
  "find keys": hot(findKeys, () => ({ job: "greet", tenants: wanted.map(() => ""), keys: wanted })),
  "take keys": hot(takeKeys, () => ({
    ...{ job: "greet", tenants: wanted.map(() => ""), keys: wanted },
    ...{ runs: wanted.map(host.newId), forMs: wanted.map(() => 1), keepMs: wanted.map(() => null) },
  })),
  "forget keys": hot(forgetKeys, () => ({ limit: BATCH }), ["keys_expiring"]),
}

/** Runs to call the statements with; while there are none, random ids. No other run is running. */
export async function openHot(database: Database): Promise<Hot> {
  await execute(database, "update {runs} set lease = null, claim = null where lease is not null")
  const take = async (): Promise<Claimed> => {
    const mine = { lease: await openLease(database, 3_600_000), claim: host.randomBits() }
    const rows = await database.run(claimRuns, { ...ANY, ...mine, ...lanesOf(LANES, BATCH) })
    const ids = rows.length > 0 ? rows.map(({ id }) => id) : Array.from({ length: BATCH }, host.newId)
    return { ...mine, ids }
  }
  const [claimed, lost] = [await take(), await take()]
  await database.run(killLease, { lease: lost.lease })
  const [one] = await rowsOf(
    database,
    `select (select id from {runs} where {schema}.state(runs) = 'ready' limit 1) as ready,
       (select id from {runs} where {schema}.state(runs) = 'waiting' limit 1) as waiting,
       (select run from {dead_letters} limit 1) as dead,
       array(select run from {run_limits} where not admitted and key = 'big' limit ${BATCH}) as parked`,
  )
  const idOf = (name: string) => String(one?.[name] ?? host.newId())
  const inLine = one?.["parked"] as string[]
  const parked = inLine.length > 0 ? inLine : [host.newId()]
  return { claimed, lost, ready: idOf("ready"), waiting: idOf("waiting"), dead: idOf("dead"), parked }
}

/**
 * A backlog of every kind, without statistics: the planner's statistics, and when they change, are not up to the
 * test.
 */
export async function fillTables(database: Database): Promise<void> {
  const runs = (columns: string, values: string, from: string) =>
    `insert into {runs} (id, job, pool, enqueued_at, input, ${columns})
       select gen_random_uuid(), 'greet', 'default', now(), '{}', ${values} from ${from};`
  await execute(
    database,
    `${runs(
      "key, solo, priority, rank, stage, due_at",
      "'key ' || n, n % 10 = 0, n % 3, n, 'queued', now()",
      `generate_series(1, ${QUEUE}) as n`,
    )}
     ${runs(
       "priority, rank, stage, due_at",
       "0, n, 'waiting', now() + n * interval '1 ms'",
       "generate_series(-30000, 30000) as n",
     )}
     ${runs(
       "solo, limited, parked_for, priority, rank, stage, due_at",
       "true, true, 'limit', 0, n, 'parked', now()",
       "generate_series(1, 50000) as n",
     )}
     insert into {run_limits} (run, key, kind, limit_name, admitted, priority, rank)
       select id, its.key, 'job', 'wide', false, priority, rank
       from {runs} cross join lateral (values ('big'), ('some ' || rank % 1000)) as its (key)
       where stage = 'parked';
     insert into {run_limits} (run, key, kind, limit_name, admitted, wave, priority, rank)
       select gen_random_uuid(), its.key, 'job', 'wide', true, 0, 0, 1
       from generate_series(1, 5), lateral (select 'some ' || n from generate_series(1, 999) as n) as its (key);
     insert into {limit_waves} (key, waves, opened_at)
       select 'some ' || n, array[0, 2, 3], now() from generate_series(2, 50000) as n;
     insert into {keys} (tenant, job, key, run, expires_at)
       select '', 'greet', 'key ' || n, gen_random_uuid(), case when n % 2 = 0 then now() - n * interval '1 s' end
       from generate_series(1, 100000) as n;
     insert into {dead_letters} (run, job, pool, priority, attempts, enqueued_at, died_at, input, fingerprint,
         limits)
       select gen_random_uuid(), 'greet', 'default', 0, 1, now(), now(), '{}', 'f', '[["big", "job", "wide"]]'
       from generate_series(1, 50000);
     insert into {limits} values ('wide', 10);`,
  )
}
