/**
 * How many runs are ready or running under a key, in the words of every statement that counts them.
 *
 * Counted, never kept: what a process leaves behind when it dies is still counted, and what has ended is not. Where there
 * are waves, only those are walked that somebody may be in (limits/open-waves), one after the other: a list of them in one
 * condition might be checked entry by entry, and all entries walked.
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
