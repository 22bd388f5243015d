import { instant, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a new schedule, unless there is one of that name. Returns its id if it is new.
 *
 * Guarantee: of two at once, one is written. Nothing of it happens before `at`, the moment from which it counts and at
 * which it was made: were that read once more, an occurrence could come to lie before its own schedule.
 * Locks: none beyond the new row; waits for one of the same name that is being written.
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
