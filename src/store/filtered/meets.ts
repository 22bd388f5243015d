/**
 * The conditions that every statement about filtered runs checks its rows by.
 *
 * No text of a user is part of the SQL: what is asked are parameters. Lists and windows come first, because they decide
 * most rows. The other terms are rows of `term` and cost more.
 */
import { json, list, nullable, text } from "../codec.ts"

export const MEETS_PARAMS = {
  states: list(text),
  jobs: nullable(list(text)),
  pools: nullable(list(text)),
  tenants: nullable(list(text)),
  enqueuedFrom: nullable(text),
  enqueuedBefore: nullable(text),
  finishedFrom: nullable(text),
  finishedBefore: nullable(text),
  /** The other terms as a JSON array; null if there are none. */
  rest: nullable(json),
} as const

/** A common table expression: the terms of `@rest`. */
export const TERMS = `term as materialized (
    select *
    from json_to_recordset(coalesce(@rest, '[]')) as term (
      field text, path text[], negated boolean, kind text, texts text[], prefixes text[], numbers numeric[],
      by text, bound numeric
    )
  )`

/** How a schedule is called, also if it was deleted, for as long as the audit knows. */
const SCHEDULE_NAME = `case when run.schedule ~ '^[0-9a-f]{8,8}(-[0-9a-f]{4,4}){3,3}-[0-9a-f]{12,12}$' then coalesce(
            (select name from {schedules} as schedule where schedule.id = run.schedule::uuid),
            (
              select before ->> 'name'
              from {audit}
              where subject = 'schedule:' || run.schedule and action = 'schedule.delete'
              order by at desc
              limit 1
            )
          ) end`

/**
 * PostgreSQL has no text with a NUL or half a character in it: it raises an error when it unescapes one, wherever in
 * the input it is. Such an input has no values to compare.
 */
const READABLE = `strpos(run.input::text, '\\u0000') = 0 and strpos(run.input::text, '\\ud') = 0`

/** A number inside the input that is no number of PostgreSQL's would be an error. */
const NUMBER_INSIDE = `case
            when ${READABLE} and json_typeof(run.input #> term.path) = 'number'
              and run.input #>> term.path ~ '^-?[0-9.]{1,200}([eE][+-]?[0-9]{1,3})?$'
            then (run.input #>> term.path)::numeric
          end`

const TEXT_INSIDE = `case
            when ${READABLE} and json_typeof(run.input #> term.path) in ('string', 'number', 'boolean')
            then run.input #>> term.path
          end`

const msOf = (instant: string) => `floor(extract(epoch from run.${instant}) * 1000)`

/** True of a row `run` that has the columns of `candidates.ts`. A term is true or false of every row, never null. */
export const MEETS = `run.state = any (@states)
      and (@jobs is null or run.job = any (@jobs))
      and (@pools is null or run.pool = any (@pools))
      and (@tenants is null or run.tenant = any (@tenants))
      and (@enqueuedFrom is null or run.enqueued_at >= @enqueuedFrom::timestamptz)
      and (@enqueuedBefore is null or run.enqueued_at < @enqueuedBefore::timestamptz)
      and (@finishedFrom is null or run.finished_at >= @finishedFrom::timestamptz)
      and (@finishedBefore is null or run.finished_at < @finishedBefore::timestamptz)
      and (@rest is null or not exists (
        select
        from term
        where term.negated = coalesce(case term.kind
          when 'words' then (
            select bool_or(
              value = any (term.texts)
              or exists (select from unnest(term.prefixes) as prefix (text) where starts_with(value, prefix.text))
            )
            from unnest(case term.field
              when 'id' then array[run.id::text]
              when 'job' then array[run.job]
              when 'pool' then array[run.pool]
              when 'tenant' then array[nullif(run.tenant, '')]
              when 'key' then array[run.key]
              when 'tag' then run.tags
              when 'worker' then array[run.worker]
              when 'error' then array[run.error_code]
              when 'fingerprint' then array[run.fingerprint]
              when 'schedule' then array[run.schedule, ${SCHEDULE_NAME}]
              when 'input' then array[${TEXT_INSIDE}]
            end) as value
          )
          else (
            select case term.kind
              when 'numbers' then number = any (term.numbers)
              else case term.by
                when '>' then number > term.bound
                when '>=' then number >= term.bound
                when '<' then number < term.bound
                when '<=' then number <= term.bound
              end
            end
            from (select case term.field
              when 'priority' then run.priority
              when 'attempt' then run.attempt
              when 'enqueued' then ${msOf("enqueued_at")}
              when 'due' then ${msOf("due_at")}
              when 'started' then ${msOf("started_at")}
              when 'finished' then ${msOf("finished_at")}
              when 'duration' then ${msOf("finished_at")} - ${msOf("started_at")}
              when 'input' then ${NUMBER_INSIDE}
            end as number) as compared
          )
        end, false)
      ))`
