/** Adds up in memory how attempts ended: one entry for each job, pool, tenant and outcome. */
import { bucketOf, emptyBuckets } from "./buckets.ts"

/** How an attempt can end, as history has it. */
export const OUTCOMES = [
  "succeeded",
  "failed",
  "timed_out",
  "released",
  "lost",
  "cancelled",
  "expired",
  "snoozed",
] as const

/** How an attempt ended: `lost` if its worker lost its lease, `released` if it was given back without a verdict. */
export type AttemptOutcome = (typeof OUTCOMES)[number]

/** The end of one attempt. */
export interface CountedEnd {
  readonly job: string
  readonly pool: string
  /** Empty if the run has no tenant. */
  readonly tenant: string
  readonly outcome: AttemptOutcome
  /** The run fails now and gets another attempt. */
  readonly isRetry: boolean
  /** The run becomes a dead letter. */
  readonly isDead: boolean
  /** From the time when the run was due until its handler started. Null if that is not known. */
  readonly waitMs: number | null
  /** How long the handler ran. Null if it did not run. */
  readonly durationMs: number | null
}

/** Everything that ended alike. */
export interface TallyEntry {
  readonly job: string
  readonly pool: string
  /** Null stands for tenants that are counted together. */
  readonly tenant: string | null
  readonly outcome: AttemptOutcome
  ends: number
  retries: number
  dead: number
  waitMs: number
  readonly waits: number[]
  durationMs: number
  readonly durations: number[]
}

export interface Tally {
  /** Called for every attempt that a process settles, so it does no more than look up one entry. */
  readonly add: (end: CountedEnd) => void
  readonly isEmpty: () => boolean
  /** Returns what was added since the last call. */
  readonly take: () => TallyEntry[]
}

export function createTally(): Tally {
  // Maps in maps: a key joined of four texts would be copied and hashed for every attempt.
  let entries = new Map<string, Map<string, Map<string, Map<string, TallyEntry>>>>()

  function entryOf({ job, pool, tenant, outcome }: CountedEnd): TallyEntry {
    const ofTenants = innerMap(innerMap(innerMap(entries, outcome), job), pool)
    const known = ofTenants.get(tenant)
    if (known) return known
    const entry = emptyEntry({ job, pool, tenant, outcome })
    ofTenants.set(tenant, entry)
    return entry
  }

  return {
    add: (end) => {
      const entry = entryOf(end)
      entry.ends += 1
      if (end.isRetry) entry.retries += 1
      if (end.isDead) entry.dead += 1
      if (end.waitMs !== null) {
        entry.waitMs += end.waitMs
        count(entry.waits, end.waitMs)
      }
      if (end.durationMs !== null) {
        entry.durationMs += end.durationMs
        count(entry.durations, end.durationMs)
      }
    },
    isEmpty: () => entries.size === 0,
    take: () => {
      const taken = [...entries.values()]
        .flatMap((ofJobs) => [...ofJobs.values()])
        .flatMap((ofPools) => [...ofPools.values()])
        .flatMap((ofTenants) => [...ofTenants.values()])
      entries = new Map()
      return taken
    },
  }
}

function innerMap<Value>(outer: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = outer.get(key)
  if (known) return known
  const inner = new Map<string, Value>()
  outer.set(key, inner)
  return inner
}

export function emptyEntry(kind: Pick<TallyEntry, "job" | "pool" | "tenant" | "outcome">): TallyEntry {
  const { job, pool, tenant, outcome } = kind
  const nothing = { ends: 0, retries: 0, dead: 0, waitMs: 0, durationMs: 0 }
  return { job, pool, tenant, outcome, ...nothing, waits: emptyBuckets(), durations: emptyBuckets() }
}

function count(buckets: number[], ms: number): void {
  const place = bucketOf(ms)
  buckets[place] = (buckets[place] ?? 0) + 1
}
