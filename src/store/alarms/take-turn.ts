import { boolean, double, nullable, text, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes the turn to check an alarm, if no process has checked it within `everyMs`. No row means that one has.
 *
 * Guarantee: one of all concurrent callers gets the turn, even if the second one read the clock first. After the clock
 * was set back by more than `everyMs`, the next caller gets it.
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
