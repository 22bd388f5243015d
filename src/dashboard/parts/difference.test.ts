import { describe, expect, it } from "vitest"
import { differenceOf } from "./difference.tsx"

describe("the difference of two texts", () => {
  it("keeps what is common and tells what goes from what comes", () => {
    const lines = differenceOf(["{", "  rate: null", "}"], ["{", "  rate: 1", "  from: x", "}"])
    expect(lines.map(({ sign, text }) => sign + text)).toEqual([
      " {",
      "-  rate: null",
      "+  rate: 1",
      "+  from: x",
      " }",
    ])
  })
})
