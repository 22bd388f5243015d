import { text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The pools that live workers serve, each once.
 *
 * Locks: none.
 * Index: none. The table of workers has one row per process.
 */
export const livePools = statement({
  name: "workers/live-pools",
  params: {},
  returns: { pool: text },
  sql: `
  select distinct unnest(pools) as pool
  from {workers}
  where not dead and expires_at > {now}
`,
})
