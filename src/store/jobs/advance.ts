import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Records that a later version of the code declares these jobs unchanged, so that older versions do not change them.
 *
 * Guarantee: run it in the transaction that has read and locked the rows (jobs/lock). The settings stay.
 * Locks: the rows, which the transaction holds already.
 * Index: the primary key of jobs.
 */
export const advanceJobs = statement({
  name: "jobs/advance",
  params: { names: list(text), version: text },
  returns: { name: text },
  sql: `
  update {jobs}
  set version = @version, declared_at = {now}
  where name = any (@names)
  returning name
`,
})
