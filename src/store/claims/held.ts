/** Whether anything that `claim` took is still running under it. One row and not `exists`: never by a scan. */
export const IS_HELD = `(
      select true
      from {runs} as run
      where run.id = any (claim.runs) and run.lease = claim.lease and run.claim = claim.claim
      limit 1
    )`
