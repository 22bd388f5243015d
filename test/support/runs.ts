/** Runs and leases for the tests of single statements: what a worker does, one statement at a time. */
import type { LimitKind } from "../../src/queue/limit-kind.ts"
import { TOP } from "../../src/queue/low-water.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { text, uuid } from "../../src/store/codec.ts"
import type { Database, Transaction } from "../../src/store/database.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { completeRuns } from "../../src/store/runs/complete.ts"
import { insertRuns } from "../../src/store/runs/insert.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { settleRuns } from "../../src/store/runs/settle.ts"
import { type Statement, statement } from "../../src/store/statement.ts"
import { registerWorker } from "../../src/store/workers/register.ts"
import { type SettableClock, takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { execute, type Row, rowsOf } from "./sql.ts"

export const host = createSystemHost()

export type Runner = Pick<Transaction, "run">

export type Stopped = { readonly database: Database; readonly clock: SettableClock }

/** The start of every test, as a rank. */
export const NINE_O_CLOCK = BigInt(Date.parse("2026-03-01T09:00Z")) * 1_000n

/** A migrated schema whose clock stands at nine in the morning, with history for that day and the next. */
export async function withStoppedClock(engine: Engine): Promise<Stopped> {
  const database = await engine.fresh()
  const clock = await takeClock(database, "2026-03-01T09:00Z")
  await execute(database, ["short", "standard", "long"].map(partitionOf).join("\n"))
  return { database, clock }
}

function partitionOf(history: string): string {
  return `create table {history_${history}} partition of {attempts_${history}}
    for values from ('2026-03-01Z') to ('2026-03-03Z');`
}

export interface NewRun {
  readonly id?: string
  readonly pool?: string
  readonly priority?: number
  readonly tenant?: string
  readonly delayMs?: number
  readonly runAt?: string
  readonly startWithinMs?: number
  readonly key?: string
  readonly tags?: readonly string[]
  readonly timeoutMs?: number
  readonly retry?: string
  readonly input?: string
  readonly job?: string
  readonly history?: string
  readonly buryWhenLost?: boolean
  /** The keys that it needs room under, each with the name of its limit. */
  readonly limits?: Readonly<Record<string, string>>
  /** What these keys are; those of a job if nothing is said. */
  readonly limitKind?: LimitKind
}

/** Writes runs and returns their ids, whether they were new or not. Runs of one kind are written together. */
export async function insert(on: Runner, ...runs: NewRun[]): Promise<string[]> {
  const known = runs.map((run) => ({ ...run, id: run.id ?? host.newId() }))
  const kindOf = ({ job, history, buryWhenLost, limits }: NewRun) =>
    JSON.stringify([job, history, buryWhenLost, limits !== undefined])
  for (const kind of new Set(known.map(kindOf))) {
    const same = known.filter((run) => kindOf(run) === kind)
    const ids = same.map(({ id }) => id)
    await on.run(insertRuns, paramsOf(ids, same))
    for (const { id, limitKind } of same) {
      if (limitKind) await on.run(setLimitKind, { id, limitKind })
    }
  }
  return known.map(({ id }) => id)
}

const setLimitKind = statement({
  name: "test/set-limit-kind",
  params: { id: uuid, limitKind: text },
  returns: {},
  sql: "update {run_limits} set kind = @limitKind where run = @id",
})

export type InsertParams = typeof insertRuns extends Statement<infer P, infer _> ? P : never

/** The parameters for runs of one kind; the first run sets the shared ones. */
export function paramsOf(ids: readonly string[], runs: readonly NewRun[]): InsertParams {
  const { job = "greet", history = "standard", buryWhenLost = false, limits } = runs[0] ?? {}
  const lines = runs.flatMap((run, index) =>
    Object.entries(run.limits ?? {}).map(([key, name]) => ({ run: ids[index] ?? "", key, name })),
  )
  return {
    ...{ job, pool: "default", priority: 0, history, buryWhenLost, limited: limits !== undefined },
    ...{ lease: null, claim: null, notAfter: null },
    ids,
    inputs: runs.map(({ input }) => input ?? "{}"),
    pools: runs.map(({ pool }) => pool ?? null),
    priorities: runs.map(({ priority }) => priority ?? null),
    tenants: runs.map(({ tenant }) => tenant ?? null),
    delaysMs: runs.map(({ delayMs }) => delayMs ?? null),
    runAts: runs.map(({ runAt }) => (runAt === undefined ? null : Date.parse(runAt))),
    startWithinsMs: runs.map(({ startWithinMs }) => startWithinMs ?? null),
    keys: runs.map(({ key }) => key ?? null),
    tags: runs.map(({ tags }) => (tags === undefined ? null : JSON.stringify(tags))),
    timeoutsMs: runs.map(({ timeoutMs }) => timeoutMs ?? null),
    retries: runs.map(({ retry }) => retry ?? null),
    limitRuns: lines.map(({ run }) => run),
    limitKeys: lines.map(({ key }) => key),
    limitNames: lines.map(({ name }) => name),
  }
}

export async function openLease(on: Runner, leaseMs = 60_000): Promise<string> {
  const lease = host.newId()
  const process = {
    hostname: "here",
    pid: 1,
    home: null,
    born: null,
    pools: ["default"],
    jobs: ["greet"],
    version: "1.2.3",
  }
  await on.run(registerWorker, { lease, ...process, leaseMs })
  return lease
}

/** Marks a lease dead, as if it had expired. */
export const killLease = statement({
  name: "test/kill-lease",
  params: { lease: uuid },
  returns: {},
  sql: "update {workers} set dead = true where lease = @lease",
})

/** Takes back the runs of a lease, which is marked dead first. */
export async function reapAfterDeath(on: Runner, lease: string, limit = 100): Promise<string[]> {
  await on.run(killLease, { lease })
  return (await on.run(reapRuns, { leases: [lease], limit })).map(({ id }) => id)
}

/** The runs of one claim, and its fence. */
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

/** Later than any due time. */
export const EVER = Date.parse("9999-12-31T23:59:59Z")

/** Claims from the bottom of every lane, in the order of their priorities. */
export async function claim(on: Runner, lease: string, options: ClaimOptions = {}): Promise<Claimed> {
  const claimId = host.randomBits()
  const { pool = "default", jobs = ["greet"], except = [], limit = 10 } = options
  const lanes = await rowsOf(
    on,
    "select distinct solo, priority from {runs} where {schema}.state(runs) = 'ready'",
  )
  const params = { lease, claim: claimId, pool, jobs, except, limit }
  const rows = await on.run(claimRuns, { ...params, ...lanesOf(lanes as never, limit) })
  const sorted = rows.toSorted((a, b) => b.priority - a.priority || Number(a.rank - b.rank))
  return { lease, claim: claimId, ids: sorted.map(({ id }) => id) }
}

export function lanesOf(
  lanes: readonly { readonly solo?: boolean; readonly priority: number }[],
  most: number,
) {
  const sorted = lanes.toSorted((a, b) => b.priority - a.priority)
  return {
    solos: sorted.map(({ solo }) => solo ?? false),
    priorities: sorted.map(({ priority }) => priority),
    froms: sorted.map(() => 0n),
    tos: sorted.map(() => TOP),
    mosts: sorted.map(() => most),
  }
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
  /** Null for a handler that did not start. */
  readonly startedAgoMs?: number | null
  readonly delayMs?: number | null
  readonly cause?: string | null
  readonly logs?: string | null
}

/** An end, with its run and the number of its claim. */
type OwnEnd = End & { readonly id: string; readonly claim: bigint }

/** Settles under one lease, each end with its claim, as one batch: successes the short way, as workers do. */
export async function settle(on: Runner, lease: string, ends: readonly OwnEnd[]) {
  if (!ends.every(isSuccess)) return on.run(settleRuns, settleParams(lease, ends))
  const [row] = await on.run(completeRuns, completeParams(lease, ends))
  const ids = [...new Set(ends.map(({ id }) => id))]
  const completed: string[] = row?.count === ends.length ? ids : JSON.parse(row?.completed ?? "[]")
  const cancelled: string[] = JSON.parse(row?.cancelled ?? "[]")
  return completed.map((id, place) => ({
    id,
    state: cancelled.includes(id) ? "cancelled" : "succeeded",
    rank: 0n,
    limit_keys: place === 0 ? (row?.limit_keys ?? null) : null,
  }))
}

function isSuccess({ state = "succeeded", outcome = "succeeded", startedAgoMs, error }: End): boolean {
  return state === "succeeded" && outcome === "succeeded" && startedAgoMs !== null && !error
}

export function completeParams(lease: string, ends: readonly OwnEnd[]) {
  return {
    ...{ lease, worker: "here:1", version: "1.2.3" },
    ids: ends.map(({ id }) => id),
    claims: ends.map((end) => end.claim),
    startedAgoMs: ends.map(({ startedAgoMs }) => startedAgoMs ?? 1_000),
    results: ends.map(({ result }) => result ?? null),
    logs: ends.map(({ logs }) => logs ?? null),
  }
}

export function settleParams(lease: string, ends: readonly OwnEnd[]) {
  return {
    ...{ lease, worker: "here:1", version: "1.2.3" },
    ids: ends.map(({ id }) => id),
    claims: ends.map((end) => end.claim),
    states: ends.map(({ state }) => state ?? "succeeded"),
    outcomes: ends.map(({ outcome }) => outcome ?? "succeeded"),
    startedAgoMs: ends.map(({ startedAgoMs = 1_000 }) => startedAgoMs),
    results: ends.map(({ result }) => result ?? null),
    delaysMs: ends.map(({ delayMs }) => delayMs ?? null),
    causes: ends.map(({ cause }) => cause ?? null),
    errorCodes: ends.map(({ error }) => (error ? "E" : null)),
    errorMessages: ends.map(({ error }) => error ?? null),
    errorStacks: ends.map(({ error }) => (error ? "at work" : null)),
    fingerprints: ends.map(({ error }) => (error ? `E:${error}` : null)),
    logs: ends.map(({ logs }) => logs ?? null),
  }
}

/** Ends the claimed runs, all alike, and returns those that the database accepted. */
export async function finish(on: Runner, { lease, claim, ids }: Claimed, end: End = {}): Promise<string[]> {
  const rows = await settle(on, lease, ids.map((id) => ({ ...end, id, claim }))) // biome-ignore format: one thought
  return rows.map(({ id }) => id)
}

/** The same for an attempt that failed. Without a delay the run is ready at once. */
export function retry(
  on: Runner,
  claimed: Claimed,
  { delayMs = null, ...rest }: End = {},
): Promise<string[]> {
  const state = delayMs === null ? "ready" : "waiting"
  return finish(on, claimed, {
    state,
    outcome: "failed",
    cause: "failed",
    error: "no luck",
    delayMs,
    ...rest,
  })
}

/** The same for runs that are given back unstarted. */
export function release(on: Runner, claimed: Claimed): Promise<string[]> {
  return finish(on, claimed, { state: "ready", outcome: "released", cause: "released", startedAgoMs: null })
}

/** The live row of the run. */
export async function runOf(on: Runner, id: string | undefined): Promise<Row | undefined> {
  const [row] = await rowsOf(on, `select *, {schema}.state(runs) from {runs} where id = '${id}'`)
  return row
}

/** Everything about a run, to see that it did not change. */
export async function everythingAbout(on: Runner, id: string | undefined) {
  return {
    run: await runOf(on, id),
    attempts: await rowsOf(on, `select * from {attempts} where run = '${id}' order by finished_at, claim`),
    letters: await rowsOf(on, `select * from {dead_letters} where run = '${id}'`),
    keys: await rowsOf(
      on,
      `select * from {keys} where run = '${id}' and expires_at is distinct from '-infinity'`,
    ),
    limits: await rowsOf(on, `select * from {run_limits} where run = '${id}' order by key`),
  }
}
