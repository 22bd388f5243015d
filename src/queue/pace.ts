/** How many to take at once, and how long to rest, so that a rate is kept. */

export interface Pace {
  /** How many are taken at once. */
  readonly batch: number
  /** The rest after a batch of so many. */
  readonly restMs: (count: number) => number
}

const MOST_AT_ONCE = 100
/** Ten batches a second are smooth enough, and spare the database a statement for each run. */
const BATCHES_PER_SECOND = 10

/** `undefined`: as fast as the database takes it. */
export function paceOf(perSecond: number | undefined): Pace {
  if (perSecond === undefined) return { batch: MOST_AT_ONCE, restMs: () => 0 }
  const batch = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(perSecond / BATCHES_PER_SECOND)))
  return { batch, restMs: (count) => (count * 1_000) / perSecond }
}
