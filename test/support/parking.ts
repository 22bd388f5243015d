/** Runs, workers and movers for tests of parking and unparking. */
import type { ReadyLane } from "../../src/engine/queue/lane.ts"
import { createMover, type Mover } from "../../src/engine/queue/mover.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import type { PauseKind } from "../../src/queue/pause-kind.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import type { Database } from "../../src/store/database.ts"
import { type SettableClock, takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { execute, rowsOf } from "./sql.ts"

/** The start of every test. */
export const NINE = "2026-03-01T09:00Z"

export interface Stage {
  readonly runtime: Runtime
  readonly database: Database
  readonly clock: SettableClock
}

/** A migrated schema whose clock stands at nine in the morning. */
export async function openStage(engine: Engine): Promise<Stage> {
  const database = await engine.fresh()
  const runtime = { ...createSystemHost(), database }
  return { runtime, database, clock: await takeClock(database, NINE) }
}

export interface SomeRuns {
  readonly job?: string
  readonly pool?: string
  readonly tenant?: string
  readonly priority?: number
  readonly solo?: boolean
  readonly stage?: "queued" | "waiting"
  /** The keys of their limits, under which they have a place. */
  readonly limits?: readonly string[]
}

/** Writes so many runs that are ready from now on, each with a rank of its own. */
export async function addRuns(database: Database, count: number, runs: SomeRuns = {}): Promise<void> {
  const { job = "greet", pool = "default", tenant = "", priority = 0 } = runs
  const { solo = false, stage = "queued", limits = [] } = runs
  await execute(
    database,
    `with new as (
       insert into {runs} (id, job, pool, tenant, priority, rank, stage, solo, limited, enqueued_at, due_at, input)
       select gen_random_uuid(), '${job}', '${pool}', '${tenant}', ${priority},
         (extract(epoch from {now}) * 1000000)::bigint + n - 1, '${stage}', ${solo}, ${limits.length > 0},
         {now}, {now}, '{}'
       from generate_series(1, ${count}) as n
       returning id, priority, rank
     )
     insert into {run_limits} (run, key, kind, limit_name, admitted, wave, priority, rank)
     select id, key, 'job', 'some', true, 0, priority, rank
     from new
     cross join unnest(array[${limits.map((key) => `'${key}'`).join()}]::text[]) as key`,
  )
}

export interface SomeWorker {
  readonly jobs?: readonly string[]
  readonly pools?: readonly string[]
  readonly dead?: boolean
  readonly leaseMs?: number
}

/** Registers a live process, and returns its lease. */
export async function addWorker(database: Database, worker: SomeWorker = {}): Promise<string> {
  const { jobs = ["greet"], pools = ["default"], dead = false, leaseMs = 60_000 } = worker
  const [row] = await rowsOf(database, "select gen_random_uuid() as lease")
  const array = (words: readonly string[]) => `array[${words.map((word) => `'${word}'`).join()}]::text[]`
  await execute(
    database,
    `insert into {workers} (lease, hostname, pid, pools, jobs, started_at, expires_at, dead)
     values ('${row?.["lease"]}', 'here', 1, ${array(pools)}, ${array(jobs)}, {now},
       {now} + ${leaseMs} * interval '1 millisecond', ${dead})`,
  )
  return String(row?.["lease"])
}

export async function pauseBy(database: Database, kind: PauseKind, name: string): Promise<void> {
  await execute(database, `insert into {pauses} values ('${kind}', '${name}', {now}, 'a test', 'to see')`)
}

export async function resumeBy(database: Database, kind: PauseKind, name: string): Promise<void> {
  await execute(database, `delete from {pauses} where kind = '${kind}' and name = '${name}'`)
}

/** How many runs are in which state, as in `{ "ready greet": 3, "pause greet": 2 }`; parked runs by their reason. */
export async function census(database: Database): Promise<Record<string, number>> {
  const rows = await rowsOf(
    database,
    `select coalesce(parked_for, {schema}.state(runs)) || ' ' || job as kind, count(*)::int as runs
     from {runs} group by 1 order by 1`,
  )
  return Object.fromEntries(rows.map(({ kind, runs }) => [String(kind), Number(runs)]))
}

/** A mover, and all its events. */
export interface Watched {
  readonly mover: Mover
  readonly events: readonly CarillonEvent[]
  readonly ready: readonly ReadyLane[]
  readonly limits: readonly string[]
  readonly resumed: () => number
  /** How often it has ended pauses whose end had come. */
  readonly ended: () => number
}

export function watchMover(runtime: Runtime): Watched {
  const events = createEvents((error) => {
    throw error
  })
  const told: CarillonEvent[] = []
  const ready: ReadyLane[] = []
  const limits: string[] = []
  let resumed = 0
  let ended = 0
  events.subscribe((event) => {
    told.push(event)
  })
  const mover = createMover({
    runtime,
    events,
    onReady: (lane) => ready.push(lane),
    onLimits: (keys) => limits.push(...keys),
    onResumed: () => {
      resumed += 1
    },
    onEnded: () => {
      ended += 1
    },
  })
  return { mover, events: told, ready, limits, resumed: () => resumed, ended: () => ended }
}

/** Moves until there is nothing left to move, and returns how many batches that took. */
export async function moveAll(mover: Mover): Promise<number> {
  for (let batches = 1; ; batches += 1) if ((await mover.move()) === "nothing") return batches
}
