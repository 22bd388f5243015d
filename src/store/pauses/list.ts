import { instant, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Everything that is paused, by kind and name.
 *
 * Index: none. The table holds only what people have paused by hand.
 */
export const listPauses = statement({
  name: "pauses/list",
  params: {},
  returns: { kind: text, name: text, paused_at: instant, actor: text, reason: text },
  sql: `
  select kind, name, paused_at, actor, reason
  from {pauses}
  order by kind, name
`,
})
