import { boolean, double, int, json, nullable, uuid, whole } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Writes down a batch of a bulk operation: how far it has come, what it did, and when the next batch is due.
 *
 * `cursor` null: nothing is left, and the operation is done. `errors` null: they stay.
 * `is_told`: a second has passed since the progress was last told, by whichever process. Then this one tells it.
 * Guarantee: run it in the transaction that took the operation and changed the runs. Then a batch is written down if
 * and only if it was done.
 * Locks: the row of the operation.
 * Index: the primary key of bulk.
 */
export const noteBulk = statement({
  name: "bulk/note",
  params: {
    id: uuid,
    cursor: nullable(uuid),
    done: int,
    skipped: int,
    failed: int,
    errors: nullable(json),
    /** What the pace asks for between this batch and the next. */
    restMs: double,
  },
  returns: { done: whole, skipped: whole, failed: whole, is_told: boolean },
  plan: "index",
  sql: `
  update {bulk} as bulk
  set cursor = coalesce(@cursor, cursor),
    state = case when @cursor is null then 'done' else state end,
    finished_at = case when @cursor is null then moment end,
    done = done + @done, skipped = skipped + @skipped, failed = failed + @failed,
    errors = coalesce(@errors, errors),
    -- From the moment at which this batch was due, so that a late one costs no speed. No later one makes up for it.
    next_at = case
      when next_at <= moment then greatest(next_at + @restMs * interval '1 millisecond', moment)
      -- The clock was set back.
      else moment + @restMs * interval '1 millisecond'
    end,
    told_at = case when tells then moment else told_at end
  from (
    select moment, told_at is null or abs(extract(epoch from moment - told_at)) >= 1 as tells
    from {bulk}
    cross join (select {now} as moment) as clock
    where id = @id
  ) as before
  where id = @id
  returning bulk.done, bulk.skipped, bulk.failed, tells as is_told
`,
})
