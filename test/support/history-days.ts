/** Days of history for tests: partitions, settled runs, and counts. */
import { createSystemHost } from "../../src/runtime/system.ts"
import { makePartitions } from "../../src/store/attempts/partitions.ts"
import type { Database } from "../../src/store/database.ts"
import { settleRuns } from "../../src/store/runs/settle.ts"
import { takeClock } from "../../src/testing/clock.ts"
import type { Engine } from "./engines.ts"
import { execute, rowsOf } from "./sql.ts"

const host = createSystemHost()

export const CLASSES = ["short", "standard", "long"] as const
export type Class = (typeof CLASSES)[number]

/** A migrated schema whose clock stands at nine in the morning, with the partitions of that day and the week. */
export async function withPartitions(engine: Engine) {
  const database = await engine.fresh()
  const clock = await takeClock(database, "2026-03-01T09:00Z")
  await makePartitions(database)
  return { database, clock }
}

/** The names of the partitions of these days, for every class. */
export function daysOf(...days: string[]): string[] {
  return days.flatMap((day) => [`attempts_${day}`, `attempts_long_${day}`, `attempts_short_${day}`])
}

/** Runs that a live lease holds, one for each class. */
export async function holdEach(database: Database) {
  const [lease, ids] = [host.newId(), CLASSES.map(() => host.newId())]
  await execute(
    database,
    `insert into {workers} (lease, hostname, pid, pools, started_at, expires_at)
       values ('${lease}', 'here', 1, array['default'], now(), now() + interval '1 year');
     insert into {runs} (id, job, pool, priority, rank, stage, enqueued_at, due_at, input, lease, claim, history)
       select id, 'greet', 'default', 0, 1, 'queued', now(), now(), '0', '${lease}', 7, class
       from unnest(array['${ids.join("', '")}']::uuid[], array['${CLASSES.join("', '")}']) as held (id, class);`,
  )
  return { lease, ids }
}

/** Settles them, as a worker does, within its deadline. Returns the runs that it ended. */
export async function settle(database: Database, { lease, ids }: { lease: string; ids: readonly string[] }) {
  const none = ids.map(() => null)
  const ends = { states: ids.map(() => "succeeded"), outcomes: ids.map(() => "succeeded"), results: none }
  const errors = { errorCodes: none, errorMessages: none, errorStacks: none, fingerprints: none }
  const rows = await database.run(
    settleRuns,
    {
      ...{ lease, ids, worker: "here", version: null, claims: ids.map(() => 7n), ...ends, ...errors },
      ...{ startedAgoMs: ids.map(() => 5), delaysMs: none, causes: none, logs: none },
    },
    { deadlineMs: 5_000 },
  )
  return rows.map(({ id }) => id)
}

/** How many attempts each partition holds. */
export async function attemptsByDay(database: Database): Promise<Record<string, unknown>> {
  const rows = await rowsOf(
    database,
    "select tableoid::regclass::text as name, count(*)::int as n from {attempts} group by 1",
  )
  return Object.fromEntries(rows.map(({ name, n }) => [String(name).split(".").at(-1), n]))
}

/** The tables of single days, attached or not. */
export async function dayTables(database: Database): Promise<unknown[]> {
  const rows = await rowsOf(
    database,
    `select relname from pg_class where relnamespace = '{schema}'::regnamespace and relkind = 'r'
       and relname ~ '^attempts_.*[0-9]+$' order by 1`,
  )
  return rows.map(({ relname }) => relname)
}
