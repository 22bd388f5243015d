/**
 * What a run leaves behind when it ends, in the words of every statement that ends runs.
 *
 * After `gone`, which has the id, tenant, job, key and `limited` of the runs that end: their keys are free if they are held
 * while the run lives, and their places under limits are given up. `left_line` names the keys whose lines may move on.
 * Index: the primary keys of keys and run_limits.
 */
export const LEAVING = `
  freed as (
    delete from {keys}
    where ctid = any (array(
      select held_key.ctid
      from gone
      cross join lateral (
        select ctid
        from {keys} as entry
        where entry.tenant = gone.tenant and entry.job = gone.job and entry.key = gone.key
          and entry.run = gone.id and entry.expires_at is null
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
