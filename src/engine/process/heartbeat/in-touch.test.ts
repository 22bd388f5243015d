import { describe, expect, it } from "vitest"
import { createInTouch } from "./in-touch.ts"

describe("being in touch", () => {
  it("begins with the first answer, counted from when it was asked for", () => {
    const inTouch = createInTouch(1_000)
    expect(inTouch.forMs(5_000)).toBe(0)
    inTouch.reached(5_000)
    expect(inTouch.forMs(5_300)).toBe(300)
    inTouch.reached(5_900)
    expect(inTouch.forMs(6_500)).toBe(1_500)
  })

  it("begins anew after a failure", () => {
    const inTouch = createInTouch(1_000)
    inTouch.reached(5_000)
    inTouch.failed(5_200)
    expect(inTouch.forMs(5_300)).toBe(0)
    inTouch.reached(5_400)
    expect(inTouch.forMs(5_500)).toBe(100)
  })

  it("does not begin with an answer to what was asked before a failure", () => {
    const inTouch = createInTouch(1_000)
    inTouch.failed(5_200)
    inTouch.reached(5_100)
    expect(inTouch.forMs(5_300)).toBe(0)
  })

  it("begins anew after silence, as when the process slept", () => {
    const inTouch = createInTouch(1_000)
    inTouch.reached(5_000)
    expect(inTouch.forMs(6_000)).toBe(1_000)
    expect(inTouch.forMs(6_001)).toBe(0)
    inTouch.reached(9_000)
    expect(inTouch.forMs(9_100)).toBe(100)
  })

  it("is not shaken by news that comes in late and in another order", () => {
    const inTouch = createInTouch(1_000)
    inTouch.reached(5_000)
    inTouch.reached(5_900)
    inTouch.reached(5_100)
    expect(inTouch.forMs(6_800)).toBe(1_800)
  })
})
