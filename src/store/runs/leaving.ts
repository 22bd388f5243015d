/**
 * What a run leaves behind when it ends, in the words of every statement that ends runs.
 *
 * After `gone`, which has the id, tenant, job, key and `limited` of the runs that end: their places under limits are
 * given up, and their keys, unless those have times of their own, are free at once or remembered for as long as they
 * say. `left_line` names the limits whose lines may move on.
 * A key that is free has its time behind it, whatever the clock says: upkeep takes it away, if nobody has taken it anew
 * before. So there is one statement for both, and none more for runs without keys.
 * Index: the primary keys of keys and run_limits.
 */
export const LEAVING = leaving()

/**
 * `dead` are the runs of `gone` that become dead letters, as a query for their ids. History does not know yet how such a
 * run ends, so it goes on holding a key that is remembered.
 */
export function leaving(dead?: string): string {
  const isOver = dead === undefined ? "" : `and (entry.keep_ms is null or gone.id not in (${dead}))`
  return `
  freed as (
    update {keys}
    set expires_at = coalesce({now} + keep_ms * interval '1 millisecond', '-infinity')
    where ctid = any (array(
      select held_key.ctid
      from gone
      cross join lateral (
        select ctid
        from {keys} as entry
        where entry.tenant = gone.tenant and entry.job = gone.job and entry.key = gone.key
          and entry.run = gone.id and entry.expires_at is null ${isOver}
        limit 1
      ) as held_key
      where gone.key is not null
    ))
  ),
  left_line as (
    delete from {run_limits}
    where run = any (array(select id from gone where limited))
    returning run, key
  )`
}
