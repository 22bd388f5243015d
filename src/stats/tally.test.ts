import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { BUCKET_COUNT, BUCKETS_MS, bucketOf, emptyBuckets, percentileMs } from "./buckets.ts"
import { foldTenants } from "./busiest.ts"
import { stepStart } from "./step.ts"
import { type CountedEnd, createTally, OUTCOMES, type TallyEntry } from "./tally.ts"

const ms = fc.option(fc.nat({ max: 10_000_000 }))
const end: fc.Arbitrary<CountedEnd> = fc.record({
  job: fc.constantFrom("bill", "greet", "report"),
  pool: fc.constantFrom("default", "mail"),
  tenant: fc.oneof(
    fc.constant(""),
    fc.nat({ max: 20 }).map((n) => `tenant ${n}`),
  ),
  outcome: fc.constantFrom(...OUTCOMES),
  isRetry: fc.boolean(),
  isDead: fc.boolean(),
  waitMs: ms,
  durationMs: ms,
})

function tallyOf(ends: readonly CountedEnd[]): TallyEntry[] {
  const tally = createTally()
  for (const each of ends) tally.add(each)
  return tally.take()
}

function totalOf(entries: readonly TallyEntry[]) {
  const total = { ends: 0, retries: 0, dead: 0, waitMs: 0, durationMs: 0 }
  const [waits, durations] = [emptyBuckets(), emptyBuckets()]
  for (const entry of entries) {
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += entry[key]
    for (let place = 0; place < BUCKET_COUNT; place += 1) {
      waits[place] = (waits[place] ?? 0) + (entry.waits[place] ?? 0)
      durations[place] = (durations[place] ?? 0) + (entry.durations[place] ?? 0)
    }
  }
  return { ...total, waits, durations }
}

describe("buckets", () => {
  it("hold a time in the first bucket whose bound it does not exceed", () => {
    for (const [place, bound] of BUCKETS_MS.entries()) {
      expect([bucketOf(bound), bucketOf(bound + 1)]).toEqual([place, place + 1])
    }
    expect(bucketOf(0)).toBe(0)
    expect(emptyBuckets()).toHaveLength(BUCKET_COUNT)
  })

  it("never understate a percentile, and overstate it by no more than a bucket", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 5_000_000 }), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (times, share) => {
          const buckets = emptyBuckets()
          for (const time of times) buckets[bucketOf(time)] = (buckets[bucketOf(time)] ?? 0) + 1
          const sorted = times.toSorted((a, b) => a - b)
          const exact = sorted[Math.max(0, Math.ceil(share * times.length) - 1)] ?? 0
          expect(percentileMs(buckets, share)).toBe(BUCKETS_MS[bucketOf(exact)] ?? Number.POSITIVE_INFINITY)
        },
      ),
    )
    expect(percentileMs(emptyBuckets(), 0.5)).toBeUndefined()
  })
})

describe("a tally", () => {
  it("has one entry for each job, pool, tenant and outcome, and counts every end in one of them", () => {
    fc.assert(
      fc.property(fc.array(end), (ends) => {
        const entries = tallyOf(ends)
        const kinds = entries.map(({ job, pool, tenant, outcome }) =>
          JSON.stringify([job, pool, tenant, outcome]),
        )
        expect(new Set(kinds).size).toBe(kinds.length)
        const total = totalOf(entries)
        expect(total.ends).toBe(ends.length)
        expect(total.retries).toBe(ends.filter(({ isRetry }) => isRetry).length)
        expect(total.dead).toBe(ends.filter(({ isDead }) => isDead).length)
        const waits = ends.flatMap(({ waitMs }) => waitMs ?? [])
        expect(total.waitMs).toBe(waits.reduce((sum, wait) => sum + wait, 0))
        expect(total.waits.reduce((sum, count) => sum + count, 0)).toBe(waits.length)
      }),
    )
  })

  it("begins again at nothing when it is taken", () => {
    const tally = createTally()
    expect(tally.isEmpty()).toBe(true)
    const [first] = fc.sample(end, 1)
    if (first) tally.add(first)
    expect(tally.isEmpty()).toBe(false)
    expect(tally.take()).toHaveLength(1)
    expect([tally.isEmpty(), tally.take()]).toEqual([true, []])
  })
})

describe("the busiest tenants", () => {
  it("stay apart, and the sums stay what they were", () => {
    fc.assert(
      fc.property(fc.array(end), fc.nat({ max: 25 }), (ends, most) => {
        const entries = tallyOf(ends)
        const folded = foldTenants(entries, most)
        expect(totalOf(folded)).toEqual(totalOf(entries))
        const busyOf = (tenant: string | null) =>
          entries.filter((entry) => entry.tenant === tenant).reduce((sum, entry) => sum + entry.ends, 0)
        const all = new Set(entries.flatMap(({ tenant }) => tenant || []))
        const apart = new Set(folded.flatMap(({ tenant }) => tenant || []))
        expect(apart.size).toBe(Math.min(most, all.size))
        const least = Math.min(...[...apart].map(busyOf))
        for (const tenant of all) if (!apart.has(tenant)) expect(busyOf(tenant)).toBeLessThanOrEqual(least)
      }),
    )
  })

  it("are no runs without a tenant, which always stay apart", () => {
    const given = {
      pool: "default",
      job: "greet",
      outcome: "succeeded",
      isRetry: false,
      isDead: false,
    } as const
    const ends = ["", "acme", "globex"].map((tenant) => ({ ...given, tenant, waitMs: 1, durationMs: 1 }))
    const folded = foldTenants(tallyOf(ends), 1)
    expect(folded.map(({ tenant, ends: count }) => [tenant, count])).toEqual([
      ["", 1],
      ["acme", 1],
      [null, 1],
    ])
  })
})

describe("a step", () => {
  it("begins at a whole minute, hour or day in UTC", () => {
    const at = Date.parse("2026-03-01T09:17:23.456Z")
    const starts = (["minute", "hour", "day"] as const).map((step) =>
      new Date(stepStart(at, step)).toISOString(),
    )
    expect(starts).toEqual([
      "2026-03-01T09:17:00.000Z",
      "2026-03-01T09:00:00.000Z",
      "2026-03-01T00:00:00.000Z",
    ])
  })
})
