/** The questions of every observer to the database: one snapshot each, and the answer as operations. */
import type { OperationOf, Standing } from "./operations.ts"

/** Live runs by their state, all others by their last end; and their number by their ids alone. */
export function countRuns(schema: string): string {
  const s = `"${schema}"`
  return `with ended as (
      select distinct on (run) run, run_state from ${s}.attempts order by run, generation desc, run_state nulls last
    ),
    gone as (select * from ended where not exists (select from ${s}.runs where id = run))
    select ${s}.state(runs), count(*) as many from ${s}.runs group by 1
    union all select coalesce(run_state, '${NOWHERE}'), count(*) from gone group by run_state
    union all select null, count(*) from (select id from ${s}.runs union select run from ended) as known`
}

/** A run that left the live ones without an end is in no state. */
const NOWHERE = "nowhere"

export function countsOf(
  rows: readonly (readonly [state: string | null, many: number])[],
): Omit<OperationOf<"count">, "op"> {
  const states = rows.filter(([state]) => state !== null && state !== NOWHERE)
  return {
    states: Object.fromEntries(states),
    enqueued: rows.find(([state]) => state === null)?.[1] ?? 0,
  }
}

/** So many at once are evidence enough. */
const MOST_STANDING = 50

/** Live runs with earlier attempts, each as JSON with its history. */
export function standingRuns(schema: string): string {
  const s = `"${schema}"`
  return `select json_build_object(
      'run', id, 'state', ${s}.state(runs), 'generation', generation, 'attempt', attempt, 'claims', claims,
      'cause', cause,
      'rows', (
        select json_agg(json_build_object(
          'generation', generation, 'claim', claim::text, 'outcome', outcome, 'charged', charged, 'runState', run_state
        ) order by finished_at)
        from ${s}.attempts where run = runs.id
      )) as standing
    from ${s}.runs
    where exists (select from ${s}.attempts where run = runs.id)
    order by id
    limit ${MOST_STANDING}`
}

export function standingOf(json: string): Standing & { readonly run: string } {
  const { cause, ...standing } = JSON.parse(json) as Standing & { run: string; cause: string | null }
  return { ...standing, ...(cause !== null && { cause }) }
}
