import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * The ids of the schedules that have one of these names, of any tenant.
 *
 * It goes from tenant to tenant and looks each name up: an index of names alone would be there for this statement only.
 * Locks: none.
 * Index: schedules_name (tenant, name).
 */
export const scheduleIdsCalled = statement({
  name: "schedules/ids-called",
  params: { names: list(text) },
  returns: { id: text, name: text },
  plan: "index",
  sql: `
  with recursive known (tenant) as (
    (select tenant from {schedules} order by tenant limit 1)
    union all
    select next.tenant
    from known
    cross join lateral (
      select tenant from {schedules} as schedule where schedule.tenant > known.tenant order by tenant limit 1
    ) as next
  )
  select found.id::text as id, found.name
  from known
  cross join lateral (
    select id, name from {schedules} as schedule where schedule.tenant = known.tenant and name = any (@names)
  ) as found
`,
})
