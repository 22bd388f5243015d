/** The state of the schedules of a stage, read from the tables, in the words of the matrix. */
import type { Database } from "../../../src/store/database.ts"
import { type Row, rowsOf } from "../sql.ts"

export interface Observed {
  readonly ledger: readonly string[]
  readonly live: readonly string[]
  readonly ends: readonly string[]
  readonly schedule: string
}

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'HH24:MI')`

/** By the name of the schedule; `ids` has the names, since a deleted schedule has none any more. */
export async function readPicture(
  database: Database,
  ids: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, Observed>> {
  const fires = await rowsOf(
    database,
    `select schedule, ${time("occurrence")} as at, count::int as count, outcome, reason,
        ${time("into_occurrence")} as into
      from {fires} where generation > 0 order by fires.occurrence`,
  )
  const live = await rowsOf(
    database,
    `select schedule, coalesce(${time("occurrence")}, 'by hand') as at, {schema}.state(runs), parked_for, cancelling,
        input ->> 'words' as words, missed ->> 'count' as missed
      from {runs} where schedule is not null order by runs.occurrence nulls last, runs.id`,
  )
  const ended = await rowsOf(
    database,
    `select schedule, coalesce(${time("occurrence")}, 'by hand') as at, run_state as state
      from {attempts} where schedule is not null and run_state is not null`,
  )
  const schedules = await rowsOf(
    database,
    `select id as schedule, state, ${time("next_occurrence")} as next from {schedules}`,
  )
  const of = (rows: readonly Row[], id: string) => rows.filter(({ schedule }) => schedule === id)
  const picture = (id: string): Observed => {
    const [schedule] = of(schedules, id)
    return {
      ledger: of(fires, id).map(entryOf),
      live: of(live, id).map(runOf),
      ends: [...of(ended, id), ...of(live, id)].map(({ at, state }) => `${at} ${state}`).sort(),
      schedule: schedule ? [schedule["state"], nextOf(schedule)].filter(Boolean).join(", ") : "gone",
    }
  }
  return new Map([...ids].map(([id, name]) => [name, picture(id)]))
}

function entryOf({ at, count, outcome, reason, into }: Row): string {
  const words = [at, count === 1 ? "" : `x${count}`, outcome, reason ?? "", into ? `into ${into}` : ""]
  return words.filter((word) => word !== "").join(" ")
}

function runOf({ at, state, parked_for, cancelling, words, missed }: Row): string {
  const parts = [
    at,
    words === "new" ? "with the new input" : "",
    missed ? `missed ${missed}` : "",
    state,
    // Behind a pause or without a handler, it would wait for something else.
    parked_for && parked_for !== "limit" ? `for ${parked_for}` : "",
    cancelling ? "cancelling" : "",
  ]
  return parts.filter((part) => part !== "").join(" ")
}

function nextOf({ next }: Row): string {
  return next ? `next ${next}` : ""
}
