import { int, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Sets the cap of a limit. Returns the cap if it has changed.
 *
 * Locks: the limit's row.
 */
export const declareLimit = statement({
  name: "limits/declare",
  params: { name: text, cap: int },
  returns: { cap: int },
  sql: `
  insert into {limits} as entry (name, cap)
  values (@name, @cap)
  on conflict (name) do update
  set cap = excluded.cap
  where entry.cap <> excluded.cap
  returning cap
`,
})
