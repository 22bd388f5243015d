import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Begins a new wave under each of these keys: who is admitted from now on is in it, and of the waves before only those are
 * counted any more in which somebody is left.
 *
 * Guarantee: run in the transaction that holds the locks of the keys (limits/try-lock), as limits/admit is, which alone
 * admits. So nobody enters a wave that is seen to be empty here, and it stays so. Kept in the database and not by whoever
 * counts: where a crash or a failover takes back the ends of runs, it takes back what was written after them too.
 * Locks: the keys' rows in limit_waves, in the order given. Give them sorted.
 * Index: run_limits_admitted (key, wave) where admitted; the primary key of limit_waves.
 */
export const openWaves = statement({
  name: "limits/open-waves",
  params: { keys: list(text) },
  returns: {},
  plan: "index",
  sql: `
  insert into {limit_waves} as entry (key, waves, opened_at)
  select wanted.key, lived.waves || (coalesce(before.waves[cardinality(before.waves)], lived.last, 0) + 1), {now}
  from unnest(@keys) as wanted (key)
  left join lateral (
    select waves
    from {limit_waves}
    where key = wanted.key
    limit 1
  ) as before on true
  cross join lateral (
    select array_agg(held.wave order by held.wave) as waves, max(held.wave) as last
    from (
      select known.wave
      from unnest(before.waves) as known (wave)
      where (
        select true
        from {run_limits}
        where key = wanted.key and wave = known.wave and admitted
        limit 1
      )
      union all
      select distinct wave
      from {run_limits}
      where key = wanted.key and admitted and before.waves is null
    ) as held
  ) as lived
  on conflict (key) do update
  set waves = excluded.waves, opened_at = excluded.opened_at
`,
})
