import { int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets the cap of a limit, unless an operator has overridden the concurrency of `job`: then the cap is that. Returns
 * the cap if it has changed. `job` is empty for a limit that no job declares.
 *
 * Locks: the limit's row. For a job, run it in the transaction that has locked the job (jobs/lock, jobs/declare), so
 * that it does not overlook an override.
 * Index: the primary keys of limits and overrides.
 */
export const declareLimit = statement({
  name: "limits/declare",
  params: { name: text, job: text, cap: int },
  returns: { cap: int },
  sql: `
  insert into {limits} as entry (name, cap)
  values (
    @name,
    coalesce((select value::text::int from {overrides} where job = @job and setting = 'concurrency'), @cap)
  )
  on conflict (name) do update
  set cap = excluded.cap
  where entry.cap <> excluded.cap
  returning cap
`,
})
