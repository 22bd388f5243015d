import { list, text } from "../codec.ts"
import { statement } from "../statement.ts"

/**
 * Begins a new wave under each of these keys. Runs admitted from now on join it, and empty earlier waves are dropped
 * from the count.
 *
 * Guarantee: run in the transaction that holds the locks of the keys (limits/try-lock). Every admission holds them too,
 * so no run joins a wave that is empty here, and the wave stays empty. The database keeps the waves, not the process:
 * if a failover loses the ends of runs, it also loses the waves that were written after them. Locks: the keys' rows in
 * limit_waves, in the order given. Give them sorted. Index: run_limits_admitted (key, wave) where admitted; the primary
 * key of limit_waves.
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
