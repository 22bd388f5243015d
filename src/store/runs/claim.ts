import { bigint, instant, int, json, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Leases up to `limit` ready runs of one pool to this worker: highest priority first, then lowest rank.
 *
 * Fence: `claim` is random and drawn for this call. Every later write presents (lease, claim), so a worker
 * that lost its lease, or that claimed the same run twice, changes nothing with the old one.
 * Guarantee: takes nothing under a lease that is dead or expired.
 * `except` are runs whose handlers from an earlier lease still go on in this process.
 * By ctid: a join on id falls into a hash join over the whole table.
 * Order: `returning` gives the order of the table; sort by (priority desc, rank) before starting anything.
 * Locks: the rows it takes; rows that others hold are skipped.
 * Index: runs_ready (pool, priority desc, rank) where state = 'ready'.
 */
export const claimRuns = statement({
  name: "runs/claim",
  params: { lease: uuid, claim: bigint, pool: text, jobs: list(text), except: list(uuid), limit: int },
  returns: { id: uuid, job: text, priority: int, rank: bigint, attempt: int, due_at: instant, input: json },
  plan: "index",
  sql: `
  update {runs} as run
  set state = 'running', lease = @lease, claim = @claim
  where exists (select from {workers} where lease = @lease and not dead and expires_at > {now})
    and run.ctid = any (array(
      select ctid
      from {runs}
      where pool = @pool and state = 'ready' and job = any (@jobs) and id <> all (@except)
      order by priority desc, rank
      limit @limit
      for no key update skip locked
    ))
  returning run.id, run.job, run.priority, run.rank, run.attempt, run.due_at, run.input
`,
})
