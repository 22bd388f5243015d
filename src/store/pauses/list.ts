import { instant, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Everything that is paused, by kind and name. `left_ms` says how long until the pause ends by itself; it is not
 * positive when its end has come.
 *
 * Index: none. The table holds only what people have paused by hand.
 */
export const listPauses = statement({
  name: "pauses/list",
  params: {},
  returns: {
    kind: text,
    name: text,
    paused_at: instant,
    actor: text,
    reason: text,
    ends_at: nullable(instant),
    left_ms: nullable(whole),
    ramp_ms: nullable(whole),
  },
  sql: `
  select kind, name, paused_at, actor, reason, ends_at,
    ceil(date_part('epoch', ends_at - {now}) * 1000)::bigint as left_ms, ramp_ms
  from {pauses}
  order by kind, name
`,
})
