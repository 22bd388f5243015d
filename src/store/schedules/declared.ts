import { json, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * What a declaration is compared with: the schedules that an application has declared, and those of the given names,
 * whoever made them.
 *
 * Locks: none. Whoever changes one of them looks at it again under its lock (schedules/lock).
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
