import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createInterval } from "../time/interval.ts"
import { between } from "../time/recurrence.ts"
import { withoutInstants } from "./bounds.ts"

const END = 200

describe("withoutInstants", () => {
  it("has all the instants but those, wherever one looks from", () => {
    const place = fc.integer({ min: 0, max: END })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.uniqueArray(place, { maxLength: 40 }),
        place,
        place,
        (period, left, from, to) => {
          const base = createInterval(period, 0)
          const rest = withoutInstants(base, left)
          const all = [...between(base, 0, 2 * END)].filter((at) => !left.includes(at))
          expect(rest.next(from)).toBe(all.find((at) => at > from))
          const before = all.findLast((at) => at < from)
          if (before !== undefined) expect(rest.previous(from)).toBe(before)
          expect(rest.count(from, Math.max(from, to))).toBe(all.filter((at) => at >= from && at < to).length)
        },
      ),
    )
  })

  it("is the same as before where nothing is left out", () => {
    const base = createInterval(10, 0)
    expect(withoutInstants(base, [])).toBe(base)
    expect(withoutInstants(base, [5, 17])).toBe(base)
  })
})
