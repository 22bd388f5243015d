import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { admittedUnder } from "./counted.ts"

/**
 * Returns the keys under which no run is admitted and none waits.
 *
 * Guarantee: run in the transaction that holds the locks of the keys (limits/try-lock-each), in a later statement. Then
 * one run may be admitted under each, and it passes no run that waits.
 * Index: run_limits_parked (key, priority desc, rank) where not admitted; as in counted.ts.
 */
export const unusedKeys = statement({
  name: "limits/unused",
  params: { keys: list(text) },
  returns: { key: text },
  plan: "index",
  sql: `
  select key
  from unnest(@keys) as wanted (key)
  where (
      select true
      from {run_limits} as entry
      where entry.key = wanted.key and not entry.admitted
      limit 1
    ) is null
    and ${admittedUnder("wanted.key")} = 0
`,
})
