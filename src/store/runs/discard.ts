import { int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Discards a dead run: deletes its dead letter. Its history stays.
 *
 * Key: discarding is the end of the run. From now on its key is remembered for the time that was chosen for the key.
 * Locks: the rows of the dead letter and of its key.
 * Index: the primary keys of dead_letters and keys.
 */
export const discardRun = statement({
  name: "runs/discard",
  params: { id: uuid },
  returns: { job: text, generation: int },
  plan: "index",
  sql: `
  with gone as (
    delete from {dead_letters}
    where run = @id
    returning run, tenant, job, key, generation
  ),
  remembered as (
    update {keys} as entry
    set expires_at = {now} + keep_ms * interval '1 millisecond'
    from gone
    where entry.tenant = gone.tenant and entry.job = gone.job and entry.key = gone.key
      and entry.run = gone.run and entry.expires_at is null
  )
  select job, generation
  from gone
`,
})
