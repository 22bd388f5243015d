import { describe, expect, it } from "vitest"
import { stateOfGroup } from "./error-group.ts"

const resolvedIn = (version: string | null) => ({ state: "resolved" as const, version })

describe("the state of a group of dead letters", () => {
  it.each([
    ["open without a decision", undefined, ["1.0.0"], "open"],
    ["ignored, whatever dies", { state: "ignored" as const, version: null }, ["9.9.9", null], "ignored"],
    ["resolved while nothing dies", resolvedIn("1.2.0"), [], "resolved"],
    ["resolved while only older versions fail", resolvedIn("1.10.0"), ["1.9.0", "1.10.0-rc.1"], "resolved"],
    [
      "regressed by a death in the version that resolves it",
      resolvedIn("1.2.0"),
      ["1.1.0", "1.2"],
      "regressed",
    ],
    ["regressed by a death in a later version", resolvedIn("1.9.0"), ["1.10.0"], "regressed"],
    ["regressed by a death in an unknown version", resolvedIn("1.2.0"), [null], "regressed"],
    ["regressed by any death, if no version was named", resolvedIn(null), ["0.0.1"], "regressed"],
  ])("is %s", (_, stored, versions, state) => {
    expect(stateOfGroup(stored, versions)).toBe(state)
  })
})
