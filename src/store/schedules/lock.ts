import { text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes a schedule, for whoever is about to change it.
 *
 * Says nothing else about it: what a statement reads is older than the lock that it waited for (schedules/find comes after).
 * Locks: its row, until the end of the transaction; waits for a tick that is writing it.
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
