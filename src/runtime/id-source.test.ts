import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createIdSource } from "./id-source.ts"

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("ids of one process", () => {
  it("are version 7 UUIDs that only grow, whatever the wall clock does and whatever is drawn", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 50 })
    fc.assert(
      fc.property(steps, fc.uint8Array({ minLength: 400, maxLength: 400 }), (each, drawn) => {
        let at = 1_800_000_000_000
        const clock = each.map((step) => {
          at += step - 1
          return at
        })
        const newId = createIdSource(
          () => clock.shift() ?? at,
          (bytes) => bytes.set(drawn),
          50,
        )
        const ids = each.map(() => newId())
        expect(ids.every((id) => UUID_V7.test(id))).toBe(true)
        expect(ids).toEqual([...new Set(ids)].sort())
      }),
    )
  })

  it("stay unique beyond the 4,096 that fit into one millisecond", () => {
    const newId = createIdSource(
      () => 1_800_000_000_000,
      (bytes) => bytes.fill(0),
    )
    const ids = Array.from({ length: 10_000 }, newId)
    expect(ids).toEqual([...new Set(ids)].sort())
  })

  it("hold their time, their number within it, and every bit that was drawn but the two of the variant", () => {
    let number = 0
    const newId = createIdSource(
      () => 0x01_23_45_67_89_ab,
      (bytes) => bytes.set(bytes.map((_, index) => 0xff - index - 8 * number)),
      1,
    )
    const ids = Array.from({ length: 0x12 }, () => {
      const id = newId()
      number += 1
      return id
    })
    expect(ids[0]).toBe("01234567-89ab-7000-bffe-fdfcfbfaf9f8")
    expect(ids[1]).toBe("01234567-89ab-7001-b7f6-f5f4f3f2f1f0")
    expect(ids[0x11]).toBe("01234567-89ab-7011-b776-757473727170")
  })

  it("are drawn together, and none is used twice", () => {
    let draws = 0
    const newId = createIdSource(
      () => 1_800_000_000_000,
      (bytes) => {
        draws += 1
        bytes.set(bytes.map((_, index) => index))
      },
      16,
    )
    const tails = new Set(Array.from({ length: 16 }, () => newId().slice(21)))
    expect([tails.size, draws]).toEqual([16, 1])
    newId()
    expect(draws).toBe(2)
  })
})
