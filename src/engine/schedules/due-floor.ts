/**
 * From which moment on to look for schedules that are due.
 *
 * A schedule that has moved on leaves an entry at the front of the index. While somebody holds an old snapshot it stays
 * there, and a look at everything takes longer and longer. So after one that took long, looks begin with what the last
 * one has seen first, for fifty times as long, but not for more than five seconds. What turns up before that meanwhile,
 * because somebody has made or resumed it for a time that is over, is mostly told of, and otherwise found after that.
 */
import { restAfter } from "../../queue/sweep-pace.ts"
import type { Host } from "../../runtime/host.ts"
import type { InstantMs } from "../../time/instant.ts"

export interface DueFloor {
  /** Looks from where the next look has to begin. `ask` says when the first is due that it sees, but no later than now. */
  readonly look: <T extends { readonly firstMs: InstantMs }>(
    ask: (from: InstantMs) => Promise<T>,
  ) => Promise<T>
  /** As far as the last look could see, nothing is due before. */
  readonly from: () => InstantMs
  /** Something may be due, at whatever moment, that was not there at the last look. */
  readonly forget: () => void
}

/** The beginning of the year 1, before every schedule. */
export const FIRST_MS = -62_135_596_800_000
/** What is quicker than this is not worth avoiding. */
const LONG_MS = 5
/** Looks at everything rest for no longer than this, however long one takes. */
const LONGEST_REST_MS = 5_000

export function createDueFloor({ monotonicMs }: Pick<Host, "monotonicMs">): DueFloor {
  let floorMs: InstantMs = FIRST_MS
  let allAtMs = 0
  /** How often there was something to forget. */
  let alarms = 0

  return {
    look: async (ask) => {
      const [startedAtMs, alarmsBefore] = [monotonicMs(), alarms]
      const isOfAll = startedAtMs >= allAtMs
      const seen = await ask(isOfAll ? FIRST_MS : floorMs)
      // It may have come too early for what it was to find.
      if (alarms !== alarmsBefore) return seen
      const endedAtMs = monotonicMs()
      const tookMs = endedAtMs - startedAtMs
      if (isOfAll && tookMs >= LONG_MS) allAtMs = endedAtMs + restAfter(tookMs, { mostMs: LONGEST_REST_MS })
      floorMs = seen.firstMs
      return seen
    },
    from: () => floorMs,
    forget: () => {
      alarms += 1
      floorMs = FIRST_MS
      allAtMs = 0
    },
  }
}
