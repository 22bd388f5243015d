import { boolean, double } from "../codec.ts"
import { type Statement, statement } from "../statement.ts"

/**
 * Whether a month of the ledger holds something that is still to be kept: a row that was written less than `keepMs` ago,
 * because a backfill or a long downtime writes about months that are long over, or one that a schedule has not passed.
 *
 * The second is what keeps an occurrence from a second run: a schedule decides only what is after its cursor, so a row
 * up to there guards nothing. Rows after it come from a backfill of time in which the schedule was paused, or say that
 * something was left out before an edit. A schedule that has ended decides nothing more.
 * The name of a table is no parameter, so each partition has a statement of its own.
 * Locks: none that hold up others. Index: none; a month is read through to the first such row, once when there is none.
 */
export function isMonthNeeded(name: string): Statement<{ keepMs: number }, { needed: boolean }> {
  const which = ` ${name}`
  return statement({
    name: `fires/is-needed${which}`,
    params: { keepMs: double },
    returns: { needed: boolean },
    sql: `
  select exists (select from {${name}} where decided_at > {now} - interval '1 millisecond' * @keepMs)
    or exists (
      select
      from {${name}} as fire
      join {schedules} as schedule on schedule.id = fire.schedule
      where fire.last > schedule.cursor and schedule.state not in ('completed', 'missed', 'cancelled')
    ) as needed
`,
  })
}
