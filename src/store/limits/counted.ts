/**
 * The SQL that counts the ready and running runs under a key.
 *
 * The use of a key is counted, never stored: runs of dead processes still count, and ended runs do not. With waves, the
 * count reads only waves that may still hold runs (limits/open-waves), one after the other: with a list of waves in one
 * condition, PostgreSQL might read all entries and filter them.
 * Index: run_limits_admitted (key, wave) where admitted; the primary key of limit_waves.
 */
export function admittedUnder(key: string): string {
  return `coalesce(
        (
          select (
            select coalesce(sum((
              select count(*)
              from {run_limits} as entry
              where entry.key = open.key and entry.wave = lived.wave and entry.admitted
            )), 0)
            from unnest(open.waves) as lived (wave)
          )
          from {limit_waves} as open
          where open.key = ${key}
        ),
        (select count(*) from {run_limits} as entry where entry.key = ${key} and entry.admitted)
      )`
}
