import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { BULK_COLUMNS, BULK_ROW } from "./columns.ts"

/**
 * Takes a bulk operation for one batch, if it runs and its next batch is due.
 *
 * Guarantee: no other transaction has it until this one ends, so `cursor` is where this batch begins.
 * Locks: the row of the operation. No row if another transaction has it.
 * Index: the primary key of bulk.
 */
export const takeBulk = statement({
  name: "bulk/take",
  params: { id: uuid },
  returns: { ...BULK_ROW, cursor: uuid },
  plan: "index",
  sql: `
  select ${BULK_COLUMNS}, cursor
  from {bulk}
  where id = @id and state = 'running'
    and (next_at <= {now} or next_at > {now} + interval '1 hour')
  for update skip locked
`,
})
