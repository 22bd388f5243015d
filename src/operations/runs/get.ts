/** Finds a run by its id, in any state: live, dead or ended, for as long as history knows it. */
import type { Runtime } from "../../runtime/runtime.ts"
import { earliestEnd } from "../../store/attempts/earliest-end.ts"
import type { Database } from "../../store/database.ts"
import { loadRuns } from "../../store/runs/load.ts"
import { type LoadedRun, type Run, runsOf } from "./run.ts"

export async function get({ database }: Runtime, { id }: { readonly id: string }): Promise<Run | undefined> {
  const [run] = await runsOf(database, await loadById(database, [id]))
  return run
}

/**
 * The days before the id was made are not read at first. That time comes from the clock of the process that made it, so
 * a run that is not found is looked for in all of history.
 */
export async function loadById(database: Database, ids: readonly string[]): Promise<LoadedRun[]> {
  const since = earliestEnd(ids)
  const found = await database.run(loadRuns, { ids, since })
  const known = new Set(found.map(({ id }) => id))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length === 0 || since === 0) return found
  return [...found, ...(await database.run(loadRuns, { ids: missing, since: 0 }))]
}
