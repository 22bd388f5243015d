import { boolean, double, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the turn to look after an alarm, if no process has looked within `everyMs`; no row says that one has.
 *
 * Guarantee: of all who ask at once one has the turn, also when the one that came second had read the clock first. After
 * the clock was set back, by more than `everyMs`, the next one has it.
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
  where abs(extract(epoch from excluded.looked_at - alarm.looked_at)) * 1000 > @everyMs
  returning raised_at is not null as is_raised,
    floor(extract(epoch from looked_at - told_at) * 1000)::bigint as told_ago_ms
`,
})
