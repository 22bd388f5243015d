import { IS_HELD } from "../claims/held.ts"
import { instant, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The leases that are not marked dead and hold runs, except those in `except`, with the expiry of each.
 *
 * Index: the primary keys of claims and runs. The claims of a lease are read up to the first that holds a run.
 */
export const listHoldingWorkers = statement({
  name: "workers/list-holding",
  params: { except: list(uuid) },
  returns: { worker: text, expires_at: instant },
  plan: "index",
  sql: `
  select hostname || ':' || pid as worker, expires_at
  from {workers} as worker
  where not dead and lease <> all (@except)
    and (select true from {claims} as claim where claim.lease = worker.lease and ${IS_HELD} limit 1)
`,
})
