import { instant, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a new schedule, unless there is one of that name. Returns its id if it is new.
 *
 * Guarantee: of two at once, one is written. Nothing of it happens before now.
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
    @id, @tenant, @name, @job, @spec, @input, @settings, @state, @cursor, @nextOccurrence, @nextAt, {now}, {now},
    @declaredBy, @tzdb
  )
  on conflict (tenant, name) do nothing
  returning id
`,
})
