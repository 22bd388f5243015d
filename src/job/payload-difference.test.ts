import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { differenceOf } from "./payload-difference.ts"

describe("differenceOf", () => {
  it("names each place that was changed, added or removed, and nothing else", () => {
    const before = { to: { mail: "ada@", name: "Ada" }, amounts: [1, 2], old: true }
    const after = { to: { mail: "ada@example.com", name: "Ada" }, amounts: [1, 3, 4], "a/b~c": null }
    expect(differenceOf(before, after)).toEqual({
      before: { "/to/mail": "ada@", "/amounts/1": 2, "/old": true },
      after: { "/to/mail": "ada@example.com", "/amounts/1": 3, "/amounts/2": 4, "/a~1b~0c": null },
    })
  })

  it("takes a value of another kind as a whole", () => {
    expect(differenceOf([1], { 0: 1 })).toEqual({ before: { "": [1] }, after: { "": { 0: 1 } } })
    expect(differenceOf(null, 1)).toEqual({ before: { "": null }, after: { "": 1 } })
  })

  it("is empty for equal values, and never for different ones", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.jsonValue(), (raw, otherRaw) => {
        const [one, other] = [raw, otherRaw].map((value) => JSON.parse(JSON.stringify(value)) as unknown)
        expect(differenceOf(one, one)).toEqual({ before: {}, after: {} })
        const { before, after } = differenceOf(one, other)
        const differs = Object.keys(before).length + Object.keys(after).length > 0
        expect(differs).toBe(!sameJson(one, other))
      }),
    )
  })
})

function sameJson(one: unknown, other: unknown): boolean {
  try {
    expect(one).toStrictEqual(other)
    return true
  } catch {
    return false
  }
}
