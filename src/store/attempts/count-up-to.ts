/** Counts attempts by an index, for statements that count by the columns of different indexes. */

/**
 * One look-up for each value of a parameter, apart (`offset 0`). A list or a join would be planned as a scan of another
 * index while the table is empty.
 */
export function countUpTo(values: string, condition: string): string {
  return `
  select count(*)::int as count
  from (
    select
    from unnest(@${values}) as wanted (value)
    cross join lateral (
      select
      from {attempts}
      where ${condition}
        and finished_at >= @firstDay::timestamptz and finished_at < @dayAfter::timestamptz
      offset 0
    ) as attempt
    limit @most
  ) as found
`
}
