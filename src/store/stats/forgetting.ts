/** Deletes old rows of one step, for the tables of statistics. */

export function forgetting(table: "{stats}" | "{depths}"): string {
  return `
  with forgotten as (
    delete from ${table}
    where ctid = any (array(
      select ctid
      from ${table}
      where step = @step and at < {now} - @keepMs * interval '1 millisecond'
      order by at
      limit @limit
      for update skip locked
    ))
    returning 1
  )
  select count(*)::int as forgotten from forgotten
`
}
