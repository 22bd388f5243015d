import { boolean, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Notes what is about to be told of an alarm.
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
