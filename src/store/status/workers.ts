import { boolean, instant, int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/** The processes whose leases are live, oldest first. */
export const listWorkers = statement({
  name: "status/workers",
  params: {},
  returns: { hostname: text, pid: int, pools: text, started_at: instant, is_late: boolean },
  sql: `
  select hostname, pid, pg_catalog.array_to_string(pools, ', ') as pools, started_at, expires_at <= {now} as is_late
  from {workers}
  where not dead
  order by started_at, lease
`,
})
