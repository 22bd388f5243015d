import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { CHOICE_PARAMS, CHOSEN } from "./chosen.ts"

/**
 * Discards dead runs: deletes their dead letters, and records each in the audit. Their history stays. Returns those
 * that it discarded.
 *
 * Key: discarding is the end of a run. From now on its key is remembered for the time that was chosen for the key.
 * Locks: the rows of the letters, see chosen.ts, and of their keys.
 * Index: the primary keys of dead_letters and keys. Hashed, because PostgreSQL would otherwise search the lists once
 * per row.
 */
export const discardBatch = statement({
  name: "dead-letters/discard-batch",
  params: CHOICE_PARAMS,
  returns: { run: uuid },
  plan: "hashed",
  sql: `
  with ${CHOSEN},
  gone as (
    delete from {dead_letters}
    where run = any (array(select run from chosen))
    returning run, tenant, job, key, generation
  ),
  remembered as (
    update {keys}
    set expires_at = {now} + keep_ms * interval '1 millisecond'
    where ctid = any (array(
      select held_key.ctid
      from gone
      cross join lateral (
        select ctid
        from {keys} as entry
        where entry.tenant = gone.tenant and entry.job = gone.job and entry.key = gone.key
          and entry.run = gone.run and entry.expires_at is null
        limit 1
      ) as held_key
      where gone.key is not null
    ))
  ),
  audited as (
    insert into {audit} (at, actor, action, subject, reason, before)
    select {now}, @actor, 'run.discard', 'run:' || run, @reason, json_build_object('job', job, 'generation', generation)
    from gone
  )
  select run
  from gone
`,
})
