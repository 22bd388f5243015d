import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readCursor, writeCursor } from "./cursor.ts"
import { type ListedRow, mergePage } from "./page.ts"

const STORES = ["runs", "dead_letters", "attempts"]

describe("a page of three stores", () => {
  it("follows the one before without a gap, whatever each store has, and within any budget", () => {
    const worlds = fc.array(fc.record({ store: fc.constantFrom(...STORES), isMet: fc.boolean() }), {
      maxLength: 40,
    })
    const sizes = fc.record({ limit: fc.integer({ min: 1, max: 5 }), budget: fc.integer({ min: 2, max: 8 }) })
    fc.assert(
      fc.property(worlds, sizes, (world, { limit, budget }) => {
        const all = world.map((row, index) => ({ ...row, id: String(99 - index) }))
        const listed: string[] = []
        let below: string | undefined = "~"
        while (below !== undefined) {
          const from = below
          const rows = STORES.flatMap((store) =>
            asked(all.filter((row) => row.store === store && row.id < from)),
          )
          const page = mergePage(rows, limit)
          expect(page.ids.length).toBeLessThanOrEqual(limit)
          expect(page.next === undefined || page.next < from).toBe(true)
          listed.push(...page.ids)
          below = page.next
        }
        expect(listed).toEqual(all.filter(({ isMet }) => isMet).map(({ id }) => id))

        /** As the statements answer for one store. */
        function asked(own: readonly { id: string; store: string; isMet: boolean }[]): ListedRow[] {
          return own
            .slice(0, budget)
            .map(({ id, store, isMet }, index) => ({
              id,
              store,
              is_met: isMet,
              is_floor: index === budget - 1,
            }))
            .filter(({ is_met: met, is_floor: floor }) => met || floor)
            .slice(0, limit + 1)
        }
      }),
    )
  })
})

describe("a cursor", () => {
  const place = { below: "0195507f-1c00-7000-8000-000000000001", nowMs: 1_772_366_400_000 }

  it("is read with the filter that it was written for, and with no other", () => {
    const cursor = writeCursor(place, "job:a")
    expect(readCursor(cursor, "job:a")).toEqual(place)
    expect(readCursor(cursor, "job:b")).toBeUndefined()
    expect(cursor).toMatch(/^[\w-]+$/)
  })

  it("is nothing else", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readCursor(text, "")).toBeUndefined()
      }),
    )
    const forged = [["x", 1], [place.below, 1e300, 0], [place.below], {}, null]
    expect(forged.map((one) => readCursor(btoa(JSON.stringify(one)), ""))).toEqual(
      forged.map(() => undefined),
    )
  })
})
