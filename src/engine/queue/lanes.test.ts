import { expect, it } from "vitest"
import { BOTTOM } from "../../queue/low-water.ts"
import { createLanes } from "./lanes.ts"

const WANTED = { limit: 10, free: 0, lowestFirst: false }

it("lanes that are too many to be known are forgotten with how far one has come in them", () => {
  const lanes = createLanes()
  const first = { solo: false, priority: 0 }
  lanes.learn(first)
  lanes.pass(first, 5n)
  expect(lanes.order(WANTED)).toMatchObject({ priorities: [0], froms: [5n] })
  for (let priority = 1; priority < 64; priority += 1)
    expect(lanes.learn({ solo: false, priority })).toBe(true)
  expect(lanes.learn({ solo: false, priority: 64 })).toBe(false)
  lanes.learn(first)
  expect(lanes.order(WANTED)).toMatchObject({ priorities: [64, 0], froms: [BOTTOM, BOTTOM] })
})
