import { statement } from "../statement.ts"

/**
 * Expires every lease at once, as if none had been renewed for a while. Only the test kit uses it.
 *
 * Locks: every worker's row.
 */
export const expireLeases = statement({
  name: "workers/expire",
  params: {},
  returns: {},
  sql: `
  update {workers}
  set expires_at = {now} - interval '1 millisecond'
  where not dead
`,
})
