import { instant, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Inserts a schedule, unless its name is taken. Returns its id if it is new.
 *
 * Guarantee: of two inserts at once, one succeeds. `at` is both the creation and the instant from which occurrences
 * count. A second reading of the clock could put an occurrence before the creation. Locks: none beyond the new row.
 * Waits for an insert of the same name.
 */
export const insertSchedule = statement({
  name: "schedules/insert",
  params: {
    id: uuid,
    tenant: text,
    name: text,
    job: text,
    spec: json,
    input: json,
    settings: json,
    state: text,
    at: instant,
    cursor: instant,
    nextOccurrence: nullable(instant),
    nextAt: nullable(instant),
    declaredBy: nullable(text),
    tzdb: nullable(text),
  },
  returns: { id: uuid },
  sql: `
  insert into {schedules} (
    id, tenant, name, job, spec, input, settings, state, cursor, next_occurrence, next_at, created_at, changed_at,
    declared_by, tzdb
  )
  values (
    @id, @tenant, @name, @job, @spec, @input, @settings, @state, @cursor, @nextOccurrence, @nextAt, @at, @at,
    @declaredBy, @tzdb
  )
  on conflict (tenant, name) do nothing
  returning id
`,
})
