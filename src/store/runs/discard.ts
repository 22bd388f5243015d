import { int, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives a dead run up for good: it is no dead letter any more. What history says of it stays.
 *
 * The key that it holds is remembered from now on for as long as the key says: this is the end of the run.
 * Locks: the dead letter's row, and that of its key.
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
