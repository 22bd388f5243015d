import { describe, expect, it } from "vitest"
import { createDueFloor, FIRST_MS } from "./due-floor.ts"

/** Looks that take as long as they are told to, and where each of them began. */
function stage() {
  let nowMs = 1_000_000
  const froms: number[] = []
  const floor = createDueFloor({ monotonicMs: () => nowMs })
  return {
    floor,
    pass: (ms: number) => {
      nowMs += ms
    },
    /** Sees a first schedule that is due then. */
    look: async (firstMs: number, tookMs: number, meanwhile = () => {}) => {
      await floor.look(async (from) => {
        froms.push(from)
        nowMs += tookMs
        meanwhile()
        return { firstMs }
      })
      return froms.at(-1)
    },
  }
}

describe("where to look for schedules that are due", () => {
  it("is everywhere as long as that is quick", async () => {
    const { look } = stage()
    expect(await look(500, 4)).toBe(FIRST_MS)
    expect(await look(900, 4)).toBe(FIRST_MS)
  })

  it("is where the last look has found the first, for fifty times as long as a look at everything took", async () => {
    const { look, pass, floor } = stage()
    expect(await look(500, 5)).toBe(FIRST_MS)
    expect(floor.from()).toBe(500)
    expect(await look(700, 100)).toBe(500)
    expect(await look(900, 100)).toBe(700)
    pass(49)
    expect(await look(950, 0)).toBe(900)
    pass(1)
    expect(await look(950, 0)).toBe(FIRST_MS)
  })

  it("is everywhere after five seconds, however long that took", async () => {
    const { look, pass } = stage()
    await look(500, 10_000)
    pass(4_999)
    expect(await look(500, 0)).toBe(500)
    pass(1)
    expect(await look(500, 0)).toBe(FIRST_MS)
  })

  it("is everywhere when there is something to forget, also if it came up during a look", async () => {
    const { look, floor } = stage()
    await look(500, 10)
    floor.forget()
    expect(floor.from()).toBe(FIRST_MS)
    expect(await look(500, 10, floor.forget)).toBe(FIRST_MS)
    expect(floor.from()).toBe(FIRST_MS)
    expect(await look(600, 10)).toBe(FIRST_MS)
    expect(await look(600, 10)).toBe(600)
  })

  it("stays where it was when a look fails", async () => {
    const { look, floor } = stage()
    await look(500, 10)
    await expect(floor.look(() => Promise.reject(new Error("no")))).rejects.toThrow("no")
    expect(await look(500, 0)).toBe(500)
  })
})
