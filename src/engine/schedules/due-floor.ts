/**
 * The instant from which a look for due schedules begins.
 *
 * A schedule that has fired leaves a dead entry at the front of the index. While any session holds an old snapshot, the
 * entry stays, and a look at the whole index takes longer and longer. So after a slow look at everything, the next
 * looks begin at the first schedule that the last one saw. They do so for fifty times as long as the slow look took,
 * and for at most five seconds. A schedule that becomes due before that place is usually announced. If not, the next
 * look at everything finds it.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Host } from "../../runtime/host.ts"
import type { InstantMs } from "../../time/instant.ts"

export interface DueFloor {
  /** Runs `ask` with the place to begin. `ask` returns when its first schedule is due, and at the latest now. */
  readonly look: <T extends { readonly firstMs: InstantMs }>(
    ask: (from: InstantMs) => Promise<T>,
  ) => Promise<T>
  /** The last look saw nothing due before this instant. */
  readonly from: () => InstantMs
  /** The next look begins at the start: a schedule that the last look did not see may be due. */
  readonly forget: () => void
}

/** The beginning of the year 1, before every schedule. */
export const FIRST_MS = -62_135_596_800_000
/** A look at everything that is faster than this needs no floor. */
const LONG_MS = 5
/** The longest time between two looks at everything. */
const LONGEST_REST_MS = 5_000

export function createDueFloor({ monotonicMs }: Pick<Host, "monotonicMs">): DueFloor {
  let floorMs: InstantMs = FIRST_MS
  let allAtMs = 0
  let forgets = 0

  return {
    look: async (ask) => {
      const [startedAtMs, forgetsBefore] = [monotonicMs(), forgets]
      const isOfAll = startedAtMs >= allAtMs
      const seen = await ask(isOfAll ? FIRST_MS : floorMs)
      // This look may have begun before the schedule that `forget` announced was committed.
      if (forgets !== forgetsBefore) return seen
      const endedAtMs = monotonicMs()
      const tookMs = endedAtMs - startedAtMs
      if (isOfAll && tookMs >= LONG_MS) allAtMs = endedAtMs + restAfter(tookMs, { mostMs: LONGEST_REST_MS })
      floorMs = seen.firstMs
      return seen
    },
    from: () => floorMs,
    forget: () => {
      forgets += 1
      floorMs = FIRST_MS
      allAtMs = 0
    },
  }
}
