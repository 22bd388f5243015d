import { uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Deletes a schedule. Its runs and what the ledger says of it stay.
 *
 * Locks: its row.
 * Index: the primary key of schedules.
 */
export const removeSchedule = statement({
  name: "schedules/remove",
  params: { id: uuid },
  returns: {},
  sql: `delete from {schedules} where id = @id`,
})
