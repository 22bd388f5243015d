import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Says where a job name is known from: a declaration, a schedule, runs that wait for a worker, or history. No row means
 * that no process has ever declared or executed such a job.
 *
 * Locks: none.
 * Index: the primary key of jobs, runs_parked, and attempts_by_job in every partition. The table of schedules is
 * scanned.
 */
export const findKnownJob = statement({
  name: "jobs/known",
  params: { name: text },
  returns: { known: text },
  sql: `
  select known
  from (
    (select 'declared' as known from {jobs} where name = @name limit 1)
    union all
    (select 'waiting' from {runs} where stage = 'parked' and parked_for = 'handler' and job = @name limit 1)
    union all
    (select 'history' from {attempts} where job = @name limit 1)
    union all
    (select 'schedule' from {schedules} where job = @name limit 1)
  ) as places
  limit 1
`,
})
