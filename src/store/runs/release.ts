import { bigint, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Gives back everything that one claim took, unstarted and uncharged, and says how much that was.
 *
 * For a claim whose answer was lost: nobody knows which runs it took, but they all carry its number. As the claim may
 * still be under way on the server, this is repeated for as long as it could be.
 * Fence: (lease, claim).
 * Locks: the rows.
 * Index: runs_leased (lease) where state = 'running'.
 */
export const releaseClaim = statement({
  name: "runs/release",
  params: { lease: uuid, claim: bigint },
  returns: { id: uuid },
  plan: "index",
  sql: `
  with held as materialized (
    select ctid, id, claim, attempt, job, pool, enqueued_at, due_at
    from {runs}
    where state = 'running' and lease = @lease and claim = @claim
    for no key update
  ),
  moved as (
    update {runs} as run
    set state = 'ready', rank = (extract(epoch from {now}) * 1000000)::bigint, lease = null, claim = null
    from held
    where run.ctid = held.ctid
    returning run.id
  ),
  recorded as (
    insert into {attempts} (
      run, claim, attempt, job, pool, lease, enqueued_at, due_at, finished_at, outcome
    )
    select id, claim, attempt + 1, job, pool, @lease, enqueued_at, due_at, {now}, 'released'
    from held
  )
  select id from moved
`,
})
