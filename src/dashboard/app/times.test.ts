import { describe, expect, it } from "vitest"
import { distanceText, instantText, lengthText } from "./times.ts"

describe("a time on the page", () => {
  it.each([
    [0, "0 s"],
    [412, "412 ms"],
    [3_000, "3.0 s"],
    [41_900, "41 s"],
    [82_000, "1m 22s"],
    [35_880_000, "9h 58m"],
    [352_800_000, "4d 2h"],
  ])("says %i ms as %s", (ms, text) => {
    expect(lengthText(ms)).toBe(text)
  })

  it("says how far it is from now, in one unit", () => {
    const now = Date.UTC(2026, 9, 24, 14)
    expect(distanceText(now, now)).toBe("now")
    expect(distanceText(now - 2_500, now)).toBe("2 s ago")
    expect(distanceText(now + 58 * 60_000, now)).toBe("in 58 min")
    expect(distanceText(now + 3 * 86_400_000, now)).toBe("in 3 days")
  })

  it("has a day only if that is another day than today, in the zone of the reader", () => {
    const now = Date.UTC(2026, 9, 24, 14, 30)
    expect(instantText(now, "Europe/Oslo", now)).toBe("16:30:00")
    expect(instantText(now + 8 * 3_600_000, "Europe/Oslo", now)).toBe("25 Oct 00:30")
    expect(instantText(now, "No/Such", now)).toBe("14:30:00")
  })
})
