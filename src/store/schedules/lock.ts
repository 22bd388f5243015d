import { text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Locks a schedule for a change.
 *
 * It returns only the id: the snapshot of a statement is older than the lock that it waited for. Read the schedule with
 * schedules/find afterwards.
 * Locks: its row, until the end of the transaction. Waits for a tick that writes it.
 * Index: schedules_name (tenant, name).
 */
export const lockSchedule = statement({
  name: "schedules/lock",
  params: { tenant: text, name: text },
  returns: { id: uuid },
  sql: `
  select id
  from {schedules} as schedule
  where schedule.tenant = @tenant and schedule.name = @name
  for no key update of schedule
`,
})
