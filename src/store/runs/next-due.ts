import { int, nullable } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * How many milliseconds until the next waiting run is due, at most a day; null when none waits.
 *
 * Index: runs_waiting (due_at) where state = 'waiting'; one entry is read.
 */
export const nextDue = statement({
  name: "runs/next-due",
  params: {},
  returns: { in_ms: nullable(int) },
  plan: "index",
  sql: `
  select least(86400000, greatest(0, ceil(extract(epoch from due_at - {now}) * 1000)))::int as in_ms
  from {runs}
  where state = 'waiting'
  order by due_at
  limit 1
`,
})
