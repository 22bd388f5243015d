/** Reads the time inside a run's id, before which the run cannot have ended. */
import { idTime } from "../../time/id-time.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { Statement } from "../statement.ts"

/** How far the clock that made the id may be ahead of the database's before a look-up needs a second try. */
const MARGIN_MS = 2 * 86_400_000
/** The last instant with a four-digit year. An id can hold later ones, which PostgreSQL cannot read. */
const LAST_MS = 253_402_300_799_999

/**
 * None of these runs is in history before this instant, unless the clocks differ by more than the margin. 0 if the ids
 * hold no time.
 */
export function earliestEnd(ids: readonly string[]): InstantMs {
  const earliestMs = ids.reduce((least, id) => Math.min(least, idTime(id)), LAST_MS)
  return Math.max(0, earliestMs - MARGIN_MS)
}

/** Makes `since` optional. Without it the statement reads all of history. */
export function sinceEver<P, R>(
  inner: Statement<P & { since: InstantMs }, R>,
): Statement<Omit<P, "since"> & { since?: InstantMs }, R> {
  return { ...inner, bind: (params) => inner.bind({ since: 0, ...params } as P & { since: InstantMs }) }
}
