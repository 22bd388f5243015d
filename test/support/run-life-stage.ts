/** A run on its way through life, for tests: how it gets to a state, where it stands, and what must always hold. */
import { expect } from "vitest"
import { text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { takeKeys } from "../../src/store/keys/take.ts"
import { statement } from "../../src/store/statement.ts"
import { registerWorker } from "../../src/store/workers/register.ts"
import type { Kind, Phase } from "./run-life.ts"
import { host, insert, type Runner } from "./runs.ts"
import { type Row, rowsOf } from "./sql.ts"

/** One run, and what is known about it beside the database. */
export interface Life {
  readonly database: Database
  readonly kind: Kind
  readonly id: string
  /** The fence under which it was last claimed, or an invalid one before the first claim. */
  readonly fence: { readonly lease: string; readonly claim: bigint }
  /** The lease for the next claim. */
  readonly idleLease: string
  /** The numbers of all claims that took it. */
  drawn: bigint[]
}

export const LIMIT_KEYS = ["a", "b"]
export const TENANT = "acme"

export const addPause = statement({
  name: "test/add-pause",
  params: { kind: text, name: text },
  returns: {},
  sql: "insert into {pauses} values (@kind, @name, {now}, 'a test', 'to see') on conflict do nothing",
})

export const removePauses = statement({
  name: "test/remove-pauses",
  params: {},
  returns: {},
  sql: "delete from {pauses}",
})

/** Empties every table with rows of a run. */
const forgetAll = statement({
  name: "test/forget-all",
  params: {},
  returns: {},
  sql: `with r as (delete from {runs}), a as (delete from {attempts}), d as (delete from {dead_letters}),
    k as (delete from {keys}), l as (delete from {run_limits}), p as (delete from {pauses})
    delete from {workers}`,
})

/** Opens a lease of a process that has handlers for these jobs, and for no others. */
export async function openIdleLease(on: Runner, jobs: readonly string[] = ["nothing"]): Promise<string> {
  const lease = host.newId()
  const process = {
    hostname: "here",
    pid: 1,
    home: null,
    born: null,
    pools: ["default"],
    jobs,
    version: null,
    leaseMs: 86_400_000,
  }
  await on.run(registerWorker, { lease, ...process })
  return lease
}

/** A new run in an empty schema, with a key that it holds while it lives. */
export async function enqueueAlone(database: Database, kind: Kind, isDue: boolean): Promise<Life> {
  await database.run(forgetAll, {})
  return enqueueOne(database, kind, isDue)
}

/** New runs of these kinds, one after the other, some of them due and some not. */
export async function enqueueMany(database: Database, kinds: readonly Kind[]): Promise<Life[]> {
  const lives: Life[] = []
  for (const [index, kind] of kinds.entries()) lives.push(await enqueueOne(database, kind, index % 4 > 0))
  return lives
}

async function enqueueOne(database: Database, kind: Kind, isDue: boolean): Promise<Life> {
  const id = host.newId()
  await database.run(takeKeys, {
    job: "greet",
    tenants: [TENANT],
    keys: [id],
    runs: [id],
    forMs: [null],
    keepMs: [null],
  })
  await insert(database, {
    ...{ id, key: id, tenant: TENANT, buryWhenLost: kind === "fragile" },
    ...(kind === "limited" && { limits: Object.fromEntries(LIMIT_KEYS.map((key) => [key, "wide"])) }),
    // The clock is moved on after the insert: then the run waits and is due.
    ...(isDue ? {} : { delayMs: 1 }),
  })
  const fence = { lease: await openIdleLease(database), claim: host.randomBits() }
  return { database, kind, id, fence, idleLease: await openIdleLease(database), drawn: [] }
}

/** What the database holds about a run. */
export interface Sight {
  readonly run: Row | null
  readonly attempts: readonly Row[]
  readonly letters: readonly Row[]
  readonly keys: readonly Row[]
  readonly limits: readonly Row[]
}

export async function look({ database, id }: Life): Promise<Sight> {
  const all = (table: string, order: string) =>
    `coalesce((select json_agg(row_to_json(x) order by ${order}) from ${table} as x where run = '${id}'), '[]')`
  const [sight] = await rowsOf(
    database,
    `select (select row_to_json(x) from (select *, {schema}.state(runs) from {runs}) as x where id = '${id}') as run,
       ${all("{attempts}", "generation, attempt, claim::text")} as attempts,
       ${all("{dead_letters}", "died_at")} as letters,
       ${all("(select * from {keys} where expires_at is null)", "key")} as keys,
       ${all("{run_limits}", "key")} as limits`,
  )
  return sight as unknown as Sight
}

const PARKED: Readonly<Record<string, Phase>> = {
  limit: "in line",
  pause: "paused",
  tenant: "of a paused tenant",
  handler: "unhandled",
}

/** Where the run stands. */
export function phaseOf({ run, attempts, letters }: Sight): Phase {
  if (run?.["state"] === "parked") return PARKED[String(run["parked_for"])] ?? "in line"
  if (run?.["state"] === "running" && run["cancelling"]) return "cancelling"
  if (run) return run["state"] as Phase
  if (letters.length > 0) return "dead"
  const end = attempts.findLast(({ run_state }) => run_state !== null)?.["run_state"]
  return end === "dead" ? "discarded" : (end as Phase)
}

/** Updates the fence from the database, for the holder of the run. */
export async function withFence(life: Life): Promise<Life> {
  const [row] = await rowsOf(
    life.database,
    `select lease, claim::text from {runs} where id = '${life.id}' and lease is not null
     union all select lease, claim::text from {attempts} where run = '${life.id}' and claim is not null`,
  )
  if (!row) return life
  return { ...life, fence: { lease: String(row["lease"]), claim: BigInt(String(row["claim"])) } }
}

const PLACE: Partial<Record<Phase, boolean | null>> = {
  ...{ "in line": false, ready: true, running: true, cancelling: true },
  ...{ waiting: null, paused: null, "of a paused tenant": null, unhandled: null },
}

/**
 * What holds of every run at every time: it is in one place, every claim has one end, and it holds the right keys and
 * places.
 */
export function expectSound(life: Life, sight: Sight, note: string): void {
  const phase = phaseOf(sight)
  const { run, attempts, letters, keys, limits } = sight
  const generations = attempts.flatMap(({ generation, run_state }) =>
    run_state === null ? [] : [generation],
  )
  const now = run?.["generation"] ?? Math.max(...generations.map(Number))
  expect(new Set(generations).size, `${note}: one end per generation`).toBe(generations.length)
  expect(generations.includes(now), `${note}: live or ended, not both and not neither`).toBe(run === null)
  expect(letters.length, `${note}: a dead letter for the dead, and for no other`).toBe(
    phase === "dead" ? 1 : 0,
  )
  const ended = attempts.flatMap(({ claim }) => (claim === null ? [] : [String(claim)]))
  const drawn = life.drawn.map((claim) => String(Number(claim)))
  const open = run?.["state"] === "running" ? [String(run["claim"])] : []
  expect([...ended, ...open].toSorted(), `${note}: one attempt per claim`).toEqual(drawn.toSorted())
  expect(attempts.length - ended.length, `${note}: at most one end without a claim`).toBeLessThanOrEqual(1)
  expect(keys.length, `${note}: its key while it lives`).toBe(run && now === 1 ? 1 : 0)
  const places = run && life.kind === "limited" ? LIMIT_KEYS.map(() => PLACE[phase]) : []
  expect(
    limits.map(({ admitted }) => admitted),
    `${note}: its places under limits`,
  ).toEqual(places)
}
