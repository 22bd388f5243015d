import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { countUpTo } from "./count-up-to.ts"

/**
 * How many attempts of these schedules are in history between two days, and no more than `most`.
 *
 * It tells whether a list had better read all of them or walk the ids.
 * Locks: none.
 * Index: attempts_by_occurrence (schedule, occurrence) where schedule is not null of those days.
 */
export const countAttemptsOfSchedules = statement({
  name: "attempts/count-of-schedules",
  params: { ofSchedules: list(text), firstDay: text, dayAfter: text, most: int },
  returns: { count: int },
  plan: "index",
  sql: countUpTo("ofSchedules", "schedule = wanted.value"),
})
