import { int, list, text } from "../codec.ts"
import { statement } from "../statement.ts"
import { countUpTo } from "./count-up-to.ts"

/**
 * How many attempts of these jobs are in history between two days, and no more than `most`.
 *
 * It tells whether a list had better read all of them or walk the ids.
 * Locks: none.
 * Index: attempts_by_job (job, finished_at) of those days.
 */
export const countAttemptsOfJobs = statement({
  name: "attempts/count-of-jobs",
  params: { ofJobs: list(text), firstDay: text, dayAfter: text, most: int },
  returns: { count: int },
  plan: "index",
  sql: countUpTo("ofJobs", "job = wanted.value"),
})
