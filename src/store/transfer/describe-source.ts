import { instant, text } from "../codec.ts"
import { statement } from "../statement.ts"

/** When and on which version of PostgreSQL an export is made, to be told to whoever looks at it later. */
export const describeSource = statement({
  name: "transfer/describe-source",
  params: {},
  returns: { at: instant, server: text },
  sql: `select {now} as at, pg_catalog.current_setting('server_version') as server`,
})
