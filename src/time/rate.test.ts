import { expect, it } from "vitest"
import { parseRate } from "./rate.ts"

it.each([
  ["50/s", 50],
  ["50 / s", 50],
  ["600/m", 10],
  ["1800/h", 0.5],
])("reads %s as so many a second", (text, perSecond) => {
  expect(parseRate(text)).toBe(perSecond)
})

it.each(["", "0/s", "50", "/s", "50/d", "-1/s", "1e9/s", "1.5/s", 50, undefined])("refuses %s", (value) => {
  expect(parseRate(value)).toBeUndefined()
})
