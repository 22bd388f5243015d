/** Keeps the entries of the busiest tenants apart and adds those of all other tenants together. */
import { emptyEntry, type TallyEntry } from "./tally.ts"

/** The most tenants that one process counts apart at a time. Without a bound, each tenant would be a row per minute. */
export const MOST_TENANTS = 100

/**
 * At most `most` tenants keep entries of their own: those with the most ends, and by name among equals. Runs without a
 * tenant are no tenant and always stay apart. The sums of the answer are those of `entries`.
 */
export function foldTenants(entries: readonly TallyEntry[], most: number = MOST_TENANTS): TallyEntry[] {
  const apart = busiestTenants(entries, most)
  const folded = new Map<string, TallyEntry>()
  const kept: TallyEntry[] = []
  for (const entry of entries) {
    if (entry.tenant === "" || (entry.tenant !== null && apart.has(entry.tenant))) kept.push(entry)
    else addTo(othersOf(folded, entry), entry)
  }
  return [...kept, ...folded.values()]
}

function busiestTenants(entries: readonly TallyEntry[], most: number): Set<string> {
  const ends = new Map<string, number>()
  for (const { tenant, ends: count } of entries) {
    if (tenant !== null && tenant !== "") ends.set(tenant, (ends.get(tenant) ?? 0) + count)
  }
  const ordered = [...ends].sort(([a, endsA], [b, endsB]) => endsB - endsA || (a < b ? -1 : 1))
  return new Set(ordered.slice(0, most).map(([tenant]) => tenant))
}

function othersOf(folded: Map<string, TallyEntry>, { job, pool, outcome }: TallyEntry): TallyEntry {
  const key = `${outcome}\0${pool}\0${job}`
  const others = folded.get(key) ?? emptyEntry({ job, pool, tenant: null, outcome })
  folded.set(key, others)
  return others
}

function addTo(sum: TallyEntry, entry: TallyEntry): void {
  sum.ends += entry.ends
  sum.retries += entry.retries
  sum.dead += entry.dead
  sum.waitMs += entry.waitMs
  sum.durationMs += entry.durationMs
  for (const [place, count] of entry.waits.entries()) sum.waits[place] = (sum.waits[place] ?? 0) + count
  for (const [place, count] of entry.durations.entries()) {
    sum.durations[place] = (sum.durations[place] ?? 0) + count
  }
}
