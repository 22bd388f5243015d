import { int, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes back up to `limit` runs of dead leases: each is ready again, and history says that it was lost.
 *
 * Call it only for leases that are marked dead (workers/mark-dead): a lease that is merely late may be
 * renewed in the same moment. Repeat it until it returns nothing, and again a while later: a claim that was
 * under way when the lease died may still come in.
 * The loss is charged as an attempt, so that a run that kills its process does not do so for ever.
 * Locks: the rows it takes; rows that others hold are skipped.
 * Index: runs_leased (lease) where state = 'running'.
 */
export const reapRuns = statement({
  name: "runs/reap",
  params: { leases: list(uuid), limit: int },
  returns: { id: uuid, lease: uuid, pool: text },
  plan: "index",
  sql: `
  with lost as materialized (
    select ctid, id, claim, lease, attempt, job, pool, enqueued_at, due_at
    from {runs}
    where state = 'running' and lease = any (@leases)
    limit @limit
    for no key update skip locked
  ),
  moved as (
    update {runs} as run
    set state = 'ready', rank = (extract(epoch from {now}) * 1000000)::bigint,
      attempt = run.attempt + 1, lease = null, claim = null
    from lost
    where run.ctid = lost.ctid
    returning run.id
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, finished_at, outcome
    )
    select id, claim, attempt + 1, job, pool, lease, enqueued_at, due_at, {now}, 'lost'
    from lost
  )
  select id, lease, pool
  from lost
`,
})
