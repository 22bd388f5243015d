import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createIdSource, createSystemHost } from "./system.ts"

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("ids of one process", () => {
  it("are version 7 UUIDs that only grow, whatever the wall clock does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 50 }), (steps) => {
        let at = 1_800_000_000_000
        const clock = steps.map((step) => {
          at += step - 1
          return at
        })
        const newId = createIdSource(
          () => clock.shift() ?? at,
          (size) => new Uint8Array(size).fill(0xff),
        )
        const ids = steps.map(() => newId())
        expect(ids.every((id) => UUID_V7.test(id))).toBe(true)
        expect(ids).toEqual([...new Set(ids)].sort())
      }),
    )
  })

  it("stay unique beyond the 4,096 that fit into one millisecond", () => {
    const newId = createIdSource(
      () => 1_800_000_000_000,
      (size) => new Uint8Array(size),
    )
    const ids = Array.from({ length: 10_000 }, newId)
    expect(ids).toEqual([...new Set(ids)].sort())
  })
})

describe("the system host", () => {
  const host = createSystemHost()

  it("ends a rest early when its signal aborts", async () => {
    const abort = new AbortController()
    const rest = host.sleep(3_600_000, abort.signal)
    abort.abort()
    await rest
  })

  it("does not fire a timer of 40 days at once", async () => {
    let fired = false
    const timer = host.after(40 * 86_400_000, () => {
      fired = true
    })
    await host.sleep(20)
    timer.cancel()
    expect(fired).toBe(false)
  })

  it("draws bigints that fit PostgreSQL", () => {
    for (let i = 0; i < 1_000; i += 1) {
      const bits = host.randomBits()
      expect(BigInt.asIntN(64, bits)).toBe(bits)
    }
  })
})
