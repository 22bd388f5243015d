import { int, nullable, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { GROUP_PARAMS, GROUP_ROW, groupFacts } from "./group-facts.ts"

/**
 * Groups of dead letters in the order of job and fingerprint, from a place upwards; of one job, or of all.
 *
 * A loose index scan: one step leads from a group to the next one, however many letters a group has.
 * `job`: the scan ends with the first group of another job.
 * Locks: none.
 * Index: dead_letters_group (job, fingerprint, died_at), the primary key of error_groups.
 */
export const listGroups = statement({
  name: "dead-letters/groups",
  params: { ...GROUP_PARAMS, afterJob: text, afterFingerprint: text, job: nullable(text), limit: int },
  returns: GROUP_ROW,
  plan: "index",
  sql: `
  with recursive found as (
    select first.job, first.fingerprint
    from (
      select job, fingerprint
      from {dead_letters}
      where (job, fingerprint) > (@afterJob, @afterFingerprint)
      order by job, fingerprint
      limit 1
    ) as first
    where @job is null or first.job = @job
    union all
    select next.job, next.fingerprint
    from found
    cross join lateral (
      select job, fingerprint
      from {dead_letters}
      where (job, fingerprint) > (found.job, found.fingerprint)
      order by job, fingerprint
      limit 1
    ) as next
    where @job is null or next.job = @job
  )
  ${groupFacts("(select job, fingerprint from found limit @limit)")}
`,
})
