/**
 * The SQL that gives up the idempotency keys and the places under limits of runs that end. All statements that end runs
 * share it.
 *
 * It follows a part `gone` with the id, tenant, job, key and `limited` of these runs. A key with a duration of its own
 * keeps its time. Other keys are free at once, or held for as long as they say. `left_line` returns the limit keys that
 * have room now. A free key has expired at '-infinity', so its row can be taken again, and upkeep deletes it later.
 * This needs no second statement, and runs without keys cost nothing. Index: the primary keys of keys and run_limits.
 */
export const LEAVING = leaving()

/**
 * `dead` is a query for the ids of runs in `gone` that become dead letters. A dead letter has not ended for good, so it
 * continues to hold a key that would otherwise be remembered.
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
