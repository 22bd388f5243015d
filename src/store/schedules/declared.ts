import { json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The schedules that a declaration is compared with: those that the application has declared, and all schedules with
 * the given names.
 *
 * Locks: none. A change reads its schedule again under the lock (schedules/lock).
 * Index: schedules_declared (declared_by) where declared_by is not null, schedules_name (tenant, name).
 */
export const declaredSchedules = statement({
  name: "schedules/declared",
  params: { application: text, tenants: list(text), names: list(text) },
  returns: {
    id: uuid,
    tenant: text,
    name: text,
    job: text,
    spec: json,
    input: json,
    settings: json,
    state: text,
    declared_by: nullable(text),
  },
  sql: `
  with wanted as (
    select id
    from {schedules}
    where declared_by = @application
    union
    select schedule.id
    from unnest(@tenants, @names) as given (tenant, name)
    join {schedules} as schedule on schedule.tenant = given.tenant and schedule.name = given.name
  )
  select schedule.id, schedule.tenant, schedule.name, schedule.job, schedule.spec, schedule.input, schedule.settings,
    schedule.state, schedule.declared_by
  from wanted
  join {schedules} as schedule on schedule.id = wanted.id
  order by schedule.tenant, schedule.name
`,
})
