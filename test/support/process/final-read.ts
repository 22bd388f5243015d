/** Reads everything in a schema, in one snapshot, for the history checker. */
import type { Database } from "../../../src/store/database.ts"
import type { FinalRead } from "../history/final-read.ts"
import { rowsOf } from "../sql.ts"

/**
 * Instants as whole microseconds, claims as digits. `marks (mark, run)` and `finishes (run, claim)` are tables of the
 * workload, in the same schema; a missing one is null.
 */
export async function readFinal(database: Database): Promise<FinalRead> {
  const s = `"${database.schema}"`
  const [known] = await rowsOf(
    database,
    `select to_regclass('${s}.marks') is not null as marks, to_regclass('${s}.finishes') is not null as finishes`,
  )
  const all = (columns: string, table: string) =>
    `(select coalesce(json_agg(entry), '[]') from (select ${columns} from ${s}.${table}) as entry)`
  const ifKnown = (isKnown: unknown, query: string) => (isKnown === true ? query : "null::json")
  const [row] = await rowsOf(
    database,
    `select
      ${us(`${s}.now()`)} as "nowUs",
      ${all(`${RUNS}, ${s}.state(runs)`, "runs")} as runs,
      ${all(ATTEMPTS, "attempts")} as attempts,
      ${all("run, generation, attempts, claims", "dead_letters")} as "deadLetters",
      ${all(AUDIT, "audit")} as audit,
      ${all("lease, dead", "workers")} as workers,
      ${all(SCHEDULES, "schedules")} as schedules,
      ${all(FIRES, "fires where generation > 0")} as fires,
      ${all(`tenant, job, key, run, ${us(FINITE_EXPIRY)} as "expiresAtUs"`, "keys")} as keys,
      ${all("name, cap", "limits")} as limits,
      ${all('run, key, limit_name as "limit", admitted', "run_limits")} as "runLimits",
      ${ifKnown(known?.["marks"], all("mark, run", "marks"))} as marks,
      ${ifKnown(known?.["finishes"], all("run, claim::text as claim", "finishes"))} as finishes`,
  )
  return row as unknown as FinalRead
}

/** A free key expired long ago, a key held for ever never expires, and the key of a live run has no expiry. */
const FINITE_EXPIRY =
  "case when expires_at is not null then least(greatest(expires_at, 'epoch'), '9999-01-01') end"

function us(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000000)::bigint`
}

const RUNS = `id as run, job, tenant, parked_for as "parkedFor", priority, key, generation, attempt, claims, lease,
  claim::text as claim, cause, ${us("enqueued_at")} as "enqueuedAtUs", ${us("due_at")} as "dueAtUs", schedule,
  ${us("occurrence")} as "occurrenceUs"`

const ATTEMPTS = `run, job, pool, claim::text as claim, attempt, generation, charged, outcome, run_state as "runState",
  lease,
  ${us("enqueued_at")} as "enqueuedAtUs", ${us("due_at")} as "dueAtUs", ${us("started_at")} as "startedAtUs",
  ${us("finished_at")} as "finishedAtUs", cause, schedule, ${us("occurrence")} as "occurrenceUs"`

const AUDIT = `action, ${us("at")} as "atUs", case when subject like 'run:%' then substr(subject, 5) end as run,
  case when subject like 'schedule:%' then substr(subject, 10) end as schedule, before, after`

const SCHEDULES = `id, name, job, spec, settings, state, version, ${us("cursor")} as "cursorUs",
  ${us("next_at")} as "nextAtUs", fired, ${us("created_at")} as "createdAtUs"`

const FIRES = `schedule, ${us("occurrence")} as "occurrenceUs", generation, outcome, reason,
  ${us("due_at")} as "dueAtUs",
  ${us("decided_at")} as "decidedAtUs", run, ${us("last")} as "lastUs", count, ${us("into_occurrence")} as "intoUs"`
