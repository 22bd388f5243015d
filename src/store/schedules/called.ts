import { list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The names of schedules, including deleted ones while the audit record keeps them.
 *
 * Locks: none.
 * Index: the primary key of schedules, audit_subject (subject, at).
 */
export const schedulesCalled = statement({
  name: "schedules/called",
  params: { ids: list(uuid), subjects: list(text) },
  returns: { id: text, name: text },
  plan: "index",
  sql: `
  select id::text as id, name
  from {schedules}
  where id = any (@ids)
  union all
  select substr(subject, length('schedule:') + 1), before ->> 'name'
  from {audit}
  where subject = any (@subjects) and action = 'schedule.delete'
`,
})
