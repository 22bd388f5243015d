/** Runs and leases for the tests of single statements: what a worker does, one statement at a time. */
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database, Transaction } from "../../src/store/database.ts"
import { migrate } from "../../src/store/migrate.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { finishRuns } from "../../src/store/runs/finish.ts"
import { insertRuns } from "../../src/store/runs/insert.ts"
import { retryRuns } from "../../src/store/runs/retry.ts"
import { registerWorker } from "../../src/store/workers/register.ts"
import { type SettableClock, takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { execute, type Row, rowsOf } from "./sql.ts"

export const host = createSystemHost()

export type Runner = Pick<Transaction, "run">

export interface Stopped {
  readonly database: Database
  readonly clock: SettableClock
}

/** A migrated schema whose clock stands at nine in the morning, with history for that day and the next. */
export async function withStoppedClock(engine: Engine): Promise<Stopped> {
  const database = await engine.open()
  await migrate({ ...host, database })
  const clock = await takeClock(database, "2026-03-01T09:00Z")
  await execute(
    database,
    "create table {history} partition of {attempts} for values from ('2026-03-01Z') to ('2026-03-03Z')",
  )
  return { database, clock }
}

export interface NewRun {
  readonly id?: string
  readonly job?: string
  readonly pool?: string
  readonly priority?: number
  readonly delayMs?: number
  readonly runAt?: string
  readonly input?: string
}

/** Writes runs and returns their ids, whether they were new or not. */
export async function insert(on: Runner, ...runs: NewRun[]): Promise<string[]> {
  const ids = runs.map(({ id }) => id ?? host.newId())
  await on.run(insertRuns, paramsOf(ids, runs))
  return ids
}

export function paramsOf(ids: readonly string[], runs: readonly NewRun[]) {
  return {
    ids,
    jobs: runs.map(({ job }) => job ?? "greet"),
    pools: runs.map(({ pool }) => pool ?? "default"),
    priorities: runs.map(({ priority }) => priority ?? 0),
    delaysMs: runs.map(({ delayMs }) => delayMs ?? 0),
    runAt: runs.map(({ runAt }) => (runAt === undefined ? null : Date.parse(runAt))),
    inputs: runs.map(({ input }) => input ?? "{}"),
  }
}

export async function openLease(on: Runner, leaseMs = 60_000): Promise<string> {
  const lease = host.newId()
  await on.run(registerWorker, { lease, hostname: "here", pid: 1, pools: ["default"], leaseMs })
  return lease
}

/** What one claim took, and the fence that goes with it. */
export interface Claimed {
  readonly lease: string
  readonly claim: bigint
  readonly ids: readonly string[]
}

export interface ClaimOptions {
  readonly pool?: string
  readonly jobs?: readonly string[]
  readonly except?: readonly string[]
  readonly limit?: number
}

export async function claim(on: Runner, lease: string, options: ClaimOptions = {}): Promise<Claimed> {
  const claimId = host.randomBits()
  const { pool = "default", jobs = ["greet"], except = [], limit = 10 } = options
  const rows = await on.run(claimRuns, { lease, claim: claimId, pool, jobs, except, limit })
  const sorted = rows.toSorted((a, b) => b.priority - a.priority || Number(a.rank - b.rank))
  return { lease, claim: claimId, ids: sorted.map(({ id }) => id) }
}

/** A run that a live lease holds. */
export async function claimNewRun(on: Runner, run: NewRun = {}): Promise<Claimed & { id: string }> {
  const [id = ""] = await insert(on, run)
  return { ...(await claim(on, await openLease(on), { jobs: [run.job ?? "greet"] })), id }
}

export interface End {
  readonly state?: string
  readonly outcome?: string
  readonly result?: string | null
  readonly error?: string | null
  /** Null for a handler that was not even started. */
  readonly startedAgoMs?: number | null
}

/** Ends what was claimed, and returns which runs the database accepted that for. */
export async function finish(on: Runner, { lease, claim, ids }: Claimed, end: End = {}): Promise<string[]> {
  const {
    state = "succeeded",
    outcome = "succeeded",
    result = null,
    error = null,
    startedAgoMs = 1_000,
  } = end
  const rows = await on.run(finishRuns, {
    lease,
    ids,
    claims: ids.map(() => claim),
    states: ids.map(() => state),
    outcomes: ids.map(() => outcome),
    startedAgoMs: ids.map(() => startedAgoMs),
    results: ids.map(() => result),
    errorCodes: ids.map(() => error && "E"),
    errorMessages: ids.map(() => error),
    errorStacks: ids.map(() => null),
  })
  return rows.map(({ id }) => id)
}

export interface Again {
  readonly charged?: boolean
  /** Null for at once. */
  readonly delayMs?: number | null
  readonly outcome?: string
}

export async function retry(
  on: Runner,
  { lease, claim, ids }: Claimed,
  again: Again = {},
): Promise<string[]> {
  const { charged = true, delayMs = null, outcome = "failed" } = again
  const rows = await on.run(retryRuns, {
    lease,
    ids,
    claims: ids.map(() => claim),
    charged: ids.map(() => charged),
    delaysMs: ids.map(() => delayMs),
    outcomes: ids.map(() => outcome),
    startedAgoMs: ids.map(() => 1_000),
    errorCodes: ids.map(() => "E"),
    errorMessages: ids.map(() => "no luck"),
    errorStacks: ids.map(() => null),
  })
  return rows.map(({ id }) => id)
}

/** The run as it stands in the table of live ones. */
export async function runOf(on: Runner, id: string | undefined): Promise<Row | undefined> {
  const [row] = await rowsOf(on, `select * from {runs} where id = '${id}'`)
  return row
}

/** Everything that is known about a run, to see that it did not change. */
export async function everythingAbout(on: Runner, id: string | undefined): Promise<unknown> {
  const [attempts, letters] = [
    await rowsOf(on, `select * from {attempts} where run = '${id}' order by finished_at`),
    await rowsOf(on, `select * from {dead_letters} where run = '${id}'`),
  ]
  return { run: await runOf(on, id), attempts, letters }
}
