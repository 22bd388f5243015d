import { describe, expect, it } from "vitest"
import { createBoard, openBoard } from "./board.ts"

describe("a board", () => {
  it("shows each side at once what the other has written", () => {
    const main = createBoard()
    const thread = openBoard(main.memory)
    main.pulse(8_640_000_000.9, 180_000)
    expect(thread.lastPulse()).toEqual({ atMs: 8_640_000_000, maxBlockMs: 180_000 })
    thread.renewed(1_234.9)
    expect(main.renewedAtMs()).toBe(1_234)
    expect(main.isLost()).toBe(false)
    thread.lost()
    expect(main.isLost()).toBe(true)
  })

  it("knows of no renewal before there was one", () => {
    expect(createBoard().renewedAtMs()).toBe(Number.NEGATIVE_INFINITY)
  })
})
