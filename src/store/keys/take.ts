import { doubleOrNan, list, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes idempotency keys for new runs, and returns those it got: free keys and expired ones.
 *
 * Guarantee: of any number of calls for one key, one gets it. The others wait for its transaction and then see the
 * holder (keys/find).
 * Duration: `forMs` is the time for which the key is held from now on, whatever happens to the run; infinity holds it
 * for ever. If `forMs` is null, the key is held until the run ends, and for `keepMs` after that (runs/leaving). A null
 * `keepMs` frees the key with the run.
 * Locks: the rows of the keys that it takes, in order. It does not lock keys that other runs hold: a statement that
 * ends such a run frees its key, and must not wait for a transaction that has only asked.
 * Index: the primary key of keys.
 */
export const takeKeys = statement({
  name: "keys/take",
  params: {
    job: text,
    tenants: list(text),
    keys: list(text),
    runs: list(uuid),
    forMs: list(doubleOrNan),
    keepMs: list(doubleOrNan),
  },
  returns: { run: uuid },
  plan: "index",
  sql: `
  with wanted as materialized (
    select tenant, key, run, keep_ms::bigint as keep_ms,
      case when for_ms = 'infinity' then 'infinity' else {now} + for_ms * interval '1 millisecond' end as expires_at
    from (
      select tenant, key, run, nullif(for_ms, 'NaN') as for_ms, nullif(keep_ms, 'NaN') as keep_ms
      from unnest(@tenants, @keys, @runs, @forMs, @keepMs) as given (tenant, key, run, for_ms, keep_ms)
    ) as given
    order by tenant, key
  ),
  renewed as (
    update {keys} as entry
    set run = wanted.run, expires_at = wanted.expires_at, keep_ms = wanted.keep_ms
    from wanted
    where entry.ctid = any (array(
        select old.ctid
        from wanted
        cross join lateral (
          select ctid
          from {keys}
          where tenant = wanted.tenant and job = @job and key = wanted.key
            and (expires_at <= {now} or run = wanted.run)
          limit 1
        ) as old
      ))
      and entry.tenant = wanted.tenant and entry.key = wanted.key
      and (entry.expires_at <= {now} or entry.run = wanted.run)
    returning entry.run
  ),
  taken as (
    insert into {keys} (tenant, job, key, run, expires_at, keep_ms)
    select tenant, @job, key, run, expires_at, keep_ms
    from wanted
    order by tenant, key
    on conflict (tenant, job, key) do nothing
    returning run
  )
  select run from renewed
  union all
  select run from taken
`,
})
