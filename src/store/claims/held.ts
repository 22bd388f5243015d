/**
 * Does any run that `claim` took still run under it? A one-row subquery, because PostgreSQL may answer `exists` with a
 * table scan.
 */
export const IS_HELD = `(
      select true
      from {runs} as run
      where run.id = any (claim.runs) and run.lease = claim.lease and run.claim = claim.claim
      limit 1
    )`
