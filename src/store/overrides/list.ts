import { instant, json, list, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Overridden settings, by job. `names` asks for these jobs alone. `left_ms` says how long until the override ends by
 * itself; it is not positive when its end has come.
 *
 * Locks: none.
 * Index: the primary key of overrides. The table holds only what people have overridden by hand.
 */
export const listOverrides = statement({
  name: "overrides/list",
  params: { names: nullable(list(text)) },
  returns: {
    job: text,
    setting: text,
    value: json,
    set_at: instant,
    actor: text,
    reason: text,
    ends_at: nullable(instant),
    left_ms: nullable(whole),
  },
  sql: `
  select job, setting, value, set_at, actor, reason, ends_at,
    ceil(date_part('epoch', ends_at - {now}) * 1000)::bigint as left_ms
  from {overrides}
  where @names is null or job = any (@names)
  order by job, setting
`,
})
