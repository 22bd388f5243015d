import { double, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Counts the runs that died within the last `withinMs` and are still dead letters, by job and fingerprint, largest
 * count first.
 *
 * Cost: it counts at most `most` rows, so the cost does not grow with the number of dead letters.
 * Index: dead_letters_job (job, died_at), one step for each job that has dead letters, and then the rows it counts.
 */
export const countGrowth = statement({
  name: "dead-letters/growth",
  params: { withinMs: double, most: int },
  returns: { job: text, fingerprint: text, message: text, count: int },
  plan: "index",
  sql: `
  with recursive failing as (
    (select job from {dead_letters} order by job limit 1)
    union all
    select (select job from {dead_letters} where job > failing.job order by job limit 1)
    from failing
    where job is not null
  ),
  moment as materialized (
    select {now} - @withinMs * interval '1 millisecond' as since
  ),
  recent as (
    select failing.job, letter.fingerprint, letter.error_message
    from failing
    cross join lateral (
      select fingerprint, error_message
      from {dead_letters}
      where job = failing.job and died_at > (select since from moment)
      order by died_at desc
      limit @most
    ) as letter
    limit @most
  )
  select job, fingerprint, coalesce(min(error_message), '') as message, count(*)::int as count
  from recent
  group by 1, 2
  order by count desc, job, fingerprint
`,
})
