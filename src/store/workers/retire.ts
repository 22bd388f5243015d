import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Ends a lease whose process has given back everything.
 *
 * Guarantee: refuses while a run is still held; such a lease is left to expire and be reaped.
 */
export const retireWorker = statement({
  name: "workers/retire",
  params: { lease: uuid },
  returns: { lease: uuid },
  sql: `
  delete from {workers}
  where lease = @lease
    and not exists (select from {runs} where state = 'running' and lease = @lease)
  returning lease
`,
})
