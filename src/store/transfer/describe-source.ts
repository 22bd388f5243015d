import { instant, text } from "../codec.ts"
import { statement } from "../statement.ts"

/** The time and the PostgreSQL version of an export, for people who look at it later. */
export const describeSource = statement({
  name: "transfer/describe-source",
  params: {},
  returns: { at: instant, server: text },
  sql: `select {now} as at, pg_catalog.current_setting('server_version') as server`,
})
