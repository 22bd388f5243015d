import { instant, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The ramps: pauses that have ended and whose runs return gradually.
 *
 * Locks: none.
 * Index: none. The table holds only what people have resumed by hand.
 */
export const listRamps = statement({
  name: "ramps/list",
  params: {},
  returns: {
    kind: text,
    name: text,
    paused_at: instant,
    ends_at: instant,
    parked: whole,
    released: whole,
    actor: text,
    reason: text,
  },
  sql: `
  select kind, name, paused_at, ends_at, parked, released, actor, reason
  from {ramps}
  order by kind, name
`,
})
