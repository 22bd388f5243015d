import { boolean, double } from "../codec.ts"
import { type Statement, statement } from "../statement.ts"

/**
 * Does a month of the ledger hold a row that must be kept? Such a row was written less than `keepMs` ago, because a
 * backfill or a long downtime writes about old months, or lies after the cursor of its schedule.
 *
 * A row after the cursor protects its occurrence from a second run, because a schedule decides only what lies after its
 * cursor. Such rows come from backfills of a time in which the schedule was paused, or record what was left out before
 * an edit. A schedule that has ended decides nothing more, and a run
 * by hand stands for no occurrence.
 * Each month has a statement of its own, because the name of a table cannot be a parameter.
 * Locks: none that block other sessions.
 * Index: none. The month is read up to the first such row, or once in full if it has none.
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
      where fire.generation > 0 and fire.last > schedule.cursor
        and schedule.state not in ('completed', 'missed', 'cancelled')
    ) as needed
`,
  })
}
