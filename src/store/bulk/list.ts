import { int, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { BULK_COLUMNS, BULK_ROW } from "./columns.ts"

/**
 * Bulk operations, the newest first, below an id: all, or those in one state.
 *
 * Locks: none.
 * Index: the primary key of bulk, backwards.
 */
export const listBulk = statement({
  name: "bulk/list",
  params: { below: uuid, state: nullable(text), limit: int },
  returns: BULK_ROW,
  plan: "index",
  sql: `
  select ${BULK_COLUMNS}
  from {bulk}
  where id < @below and (@state is null or state = @state)
  order by id desc
  limit @limit
`,
})
