import { boolean, instant, json, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes a changed schedule. An edit of the definition (`isEdit`) raises the version, so that writers which read the
 * old definition notice. New times clear `last_civil`, because none of them has happened yet.
 *
 * Guarantee: run in the transaction that has locked it (schedules/lock).
 * Index: the primary key of schedules.
 */
export const changeSchedule = statement({
  name: "schedules/change",
  params: {
    id: uuid,
    isEdit: boolean,
    job: text,
    spec: json,
    input: json,
    settings: json,
    state: text,
    cursor: instant,
    nextOccurrence: nullable(instant),
    nextAt: nullable(instant),
    pausedAt: nullable(instant),
    resumeAt: nullable(instant),
    cause: nullable(json),
    tzdb: nullable(text),
  },
  returns: {},
  sql: `
  update {schedules}
  set job = @job, spec = @spec, input = @input, settings = @settings, state = @state, cursor = @cursor,
    next_occurrence = @nextOccurrence, next_at = @nextAt, paused_at = @pausedAt, resume_at = @resumeAt,
    cause = @cause, tzdb = @tzdb, last_civil = case when spec::text = @spec::text then last_civil end,
    version = version + case when @isEdit then 1 else 0 end, changed_at = {now}
  where id = @id
`,
})
