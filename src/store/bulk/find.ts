import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"
import { BULK_COLUMNS, BULK_ROW } from "./columns.ts"

/**
 * One bulk operation.
 *
 * Locks: none.
 * Index: the primary key of bulk.
 */
export const findBulk = statement({
  name: "bulk/find",
  params: { id: uuid },
  returns: BULK_ROW,
  plan: "index",
  sql: `select ${BULK_COLUMNS} from {bulk} where id = @id`,
})
