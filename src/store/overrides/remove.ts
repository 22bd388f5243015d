import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends the overrides of a job, all or only those whose end has come, and records them in the audit record. Returns the
 * settings; no row means that there were none, and then nothing is written.
 *
 * Guarantee: run it in the transaction that has locked the job (jobs/lock). Of many calls, one is told of each setting.
 * Locks: the rows.
 * Index: the primary key of overrides.
 */
export const removeOverrides = statement({
  name: "overrides/remove",
  params: { job: text, onlyOverdue: boolean, actor: text, reason: text },
  returns: { setting: text },
  sql: `
  with removed as (
    delete from {overrides}
    where job = @job and (not @onlyOverdue or ends_at <= {now})
    returning setting, value
  ),
  recorded as (
    insert into {audit} (at, actor, action, subject, reason, before)
    select {now}, @actor, 'job.override-ended', 'job:' || @job, @reason, json_object_agg(setting, value)
    from removed
    having count(*) > 0
  )
  select setting from removed order by setting
`,
})
