import { int } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a row, marked dead, for every lease that has claims and no row. Returns how many there were.
 *
 * For rows that a person deleted. The runs of such a lease would stay running for ever, because no reaper looks for
 * them.
 * Guarantee: a live lease with a row is left alone. Its row was committed before its first claim, so a snapshot that
 * sees the claim also sees the row. A restored lease is as dead as any other: its process cannot renew it, claim or
 * settle under it.
 * Locks: the rows it writes.
 * Index: the primary key of claims, one step for each lease that has claims; the primary key of workers.
 */
export const markMissingWorkers = statement({
  name: "workers/mark-missing",
  params: {},
  returns: { found: int },
  plan: "index",
  sql: `
  with recursive holding as (
    (select lease from {claims} order by lease limit 1)
    union all
    select (select lease from {claims} where lease > holding.lease order by lease limit 1)
    from holding
    where lease is not null
  ),
  missing as (
    insert into {workers} (lease, hostname, pid, pools, started_at, expires_at, dead)
    select lease, 'unknown', 0, '{}', {now}, {now}, true
    from holding
    where lease is not null
      and (select true from {workers} as worker where worker.lease = holding.lease limit 1) is null
    on conflict do nothing
    returning lease
  )
  select count(*)::int as found from missing
`,
})
