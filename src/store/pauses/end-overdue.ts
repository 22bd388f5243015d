import { text } from "../codec.ts"
import { statement } from "../statement.ts"
import { recordEnds } from "./record-ends.ts"

/**
 * Ends the pauses whose end has come, and records them in the audit record. Returns those that this call has ended.
 *
 * Guarantee: of many processes that look at the same moment, one ends a pause and is told of it.
 * Locks: the rows. Rows that another transaction changes are skipped, because their end may just be moved.
 * Index: none. The table is small.
 */
export const endOverduePauses = statement({
  name: "pauses/end-overdue",
  params: { actor: text, reason: text },
  returns: { kind: text, name: text },
  sql: `
  with due as (
    select kind, name
    from {pauses}
    where ends_at <= {now}
    for update skip locked
  ),
  removed as (
    delete from {pauses} as pause
    using due
    where pause.kind = due.kind and pause.name = due.name
    returning pause.kind, pause.name, paused_at, actor, reason, ends_at
  ),
  ${recordEnds}
  select kind, name from removed
`,
})
