/** What the tables say about the schedules: their state, their ledger, and their runs. */
import type { Database } from "../../../src/store/database.ts"
import { rowsOf } from "../sql.ts"

export interface Facts {
  readonly schedules: readonly ScheduleFact[]
  readonly fires: readonly FireFact[]
  /** The live ones and the settled ones. */
  readonly runs: readonly RunFact[]
}

interface ScheduleFact {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly fired: number
  readonly next: number | null
}

export interface FireFact {
  readonly schedule: string
  readonly first: number
  readonly last: number
  readonly count: number
  readonly outcome: string
  readonly reason: string | null
  readonly into: number | null
  readonly due: number | null
  readonly decided: number
  readonly run: string | null
}

export interface RunFact {
  readonly id: string
  readonly schedule: string
  readonly occurrence: number
  readonly due: number
  readonly missed: { readonly count: number; readonly first: string; readonly last: string } | null
}

/** Instants as milliseconds. */
export async function readFacts(database: Database): Promise<Facts> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`
  const run = `id, schedule, ${ms("occurrence")} as occurrence, ${ms("due_at")} as due, missed`
  const [facts] = await rowsOf(
    database,
    `select
      (select coalesce(json_agg(s), '[]') from (
        select id, name, state, fired, ${ms("next_occurrence")} as next from {schedules}
      ) as s) as schedules,
      (select coalesce(json_agg(f), '[]') from (
        select schedule, ${ms("occurrence")} as first, ${ms("last")} as last, count, outcome, reason,
          ${ms("into_occurrence")} as into, ${ms("due_at")} as due, ${ms("decided_at")} as decided, run
        from {fires} where generation > 0 and schedule in (select id from {schedules}) order by occurrence
      ) as f) as fires,
      (select coalesce(json_agg(r), '[]') from (
        select ${run} from {runs} union all select ${run} from {settled}
      ) as r) as runs`,
  )
  return facts as unknown as Facts
}
