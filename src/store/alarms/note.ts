import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records that an alarm is about to be raised or cleared.
 *
 * Locks: the row of the alarm.
 */
export const noteAlarm = statement({
  name: "alarms/note",
  params: { name: text, isRaised: boolean },
  returns: {},
  sql: `
  update {alarms}
  set raised_at = case when @isRaised then coalesce(raised_at, {now}) end, told_at = {now}
  where name = @name
`,
})
