import { boolean, double, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the turn to look after an alarm, if no process has looked within `everyMs`; no row says that one has.
 *
 * Guarantee: of all who ask at once one has the turn. After the clock was set back the next one has it.
 * Locks: the row of the alarm.
 */
export const takeAlarmTurn = statement({
  name: "alarms/take-turn",
  params: { name: text, everyMs: double },
  returns: { is_raised: boolean, told_ago_ms: nullable(whole) },
  sql: `
  insert into {alarms} as alarm (name, looked_at)
  values (@name, {now})
  on conflict (name) do update
  set looked_at = excluded.looked_at
  where alarm.looked_at not between excluded.looked_at - @everyMs * interval '1 millisecond' and excluded.looked_at
  returning raised_at is not null as is_raised,
    floor(extract(epoch from looked_at - told_at) * 1000)::bigint as told_ago_ms
`,
})
