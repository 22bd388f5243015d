/**
 * Looks up runs in history without reading every day of it.
 *
 * The id of a run holds the time when it was made, so earlier days are skipped. That time comes from the clock of the
 * process that made the id. A run that is not found since then is looked up once more, in all of history. A wrong clock
 * therefore costs time and changes no answer.
 */
import type { ConnectionClass, Database } from "../database.ts"
import type { Statement } from "../statement.ts"
import { earliestEnd } from "./earliest-end.ts"
import { findEnd } from "./find-end.ts"
import { findSettled } from "./find-settled.ts"
import { listAttemptsOfRun } from "./list-of-run.ts"

type RowOf<S> = S extends Statement<infer _, infer Row> ? Row : never
export type RunEnd = RowOf<typeof findEnd>
export type SettledRun = RowOf<typeof findSettled>
export type AttemptRow = RowOf<typeof listAttemptsOfRun>

export interface ClaimOfRun {
  readonly id: string
  readonly claim: bigint
}

/** The ends of these runs; see attempts/find-end. */
export async function findEnds(database: Database, ids: readonly string[]): Promise<RunEnd[]> {
  const since = earliestEnd(ids)
  const found = await database.run(findEnd, { ids, since })
  const missing = without(ids, found)
  if (missing.length === 0 || since === 0) return found
  return [...found, ...(await database.run(findEnd, { ids: missing }))]
}

/** Those runs whose settle under this claim is in history, with their final states; see attempts/find-settled. */
export async function findSettledRuns(
  database: Database,
  claims: readonly ClaimOfRun[],
  connection: ConnectionClass = "work",
): Promise<SettledRun[]> {
  const paramsOf = (pairs: readonly ClaimOfRun[]) => ({
    ids: pairs.map(({ id }) => id),
    claims: pairs.map(({ claim }) => claim),
  })
  const { ids } = paramsOf(claims)
  const found = await database.run(
    findSettled,
    { ...paramsOf(claims), since: earliestEnd(ids) },
    { connection },
  )
  const missing = new Set(without(ids, found))
  const pairs = claims.filter(({ id }) => missing.has(id))
  const rest = pairs.length === 0 ? [] : await database.run(findSettled, paramsOf(pairs), { connection })
  return [...found, ...rest]
}

/** Every attempt of a run, oldest first; see attempts/list-of-run. */
export async function listAttempts(database: Database, run: string): Promise<AttemptRow[]> {
  const since = earliestEnd([run])
  const found = await database.run(listAttemptsOfRun, { run, since })
  // A replay sets a new time of enqueue, so only the first generation shows that no earlier attempt exists.
  const isWhole = found.some((row) => row.generation === 1 && row.enqueued_at >= since)
  return isWhole ? found : database.run(listAttemptsOfRun, { run })
}

function without(ids: readonly string[], found: readonly { readonly id: string }[]): string[] {
  const known = new Set(found.map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}
