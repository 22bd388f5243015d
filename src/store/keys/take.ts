import { double, list, nullable, text, uuid } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Takes idempotency keys for new runs, and returns those it got: free ones, and ones whose time is over.
 *
 * Guarantee: of any number of calls for one key, one gets it; the others wait for its transaction and then see the
 * holder (keys/find).
 * `forMs` says for how long the key is held; null: while its run lives.
 * Locks: the keys' rows, in their order.
 * Index: the primary key of keys.
 */
export const takeKeys = statement({
  name: "keys/take",
  params: {
    job: text,
    tenants: list(text),
    keys: list(text),
    runs: list(uuid),
    forMs: list(nullable(double)),
  },
  returns: { run: uuid },
  sql: `
  insert into {keys} as entry (tenant, job, key, run, expires_at)
  select tenant, @job, key, run, {now} + for_ms * interval '1 millisecond'
  from unnest(@tenants, @keys, @runs, @forMs) as wanted (tenant, key, run, for_ms)
  order by tenant, key
  on conflict (tenant, job, key) do update
  set run = excluded.run, expires_at = excluded.expires_at
  where entry.expires_at <= {now} or entry.run = excluded.run
  returning run
`,
})
