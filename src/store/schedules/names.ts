import { list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The names of those schedules that are active.
 *
 * Index: the primary key of schedules.
 */
export const namesOfSchedules = statement({
  name: "schedules/names",
  params: { ids: list(uuid) },
  returns: { id: uuid, tenant: text, name: text },
  plan: "index",
  sql: `
  select id, tenant, name
  from {schedules}
  where id = any (@ids) and state = 'active'
`,
})
