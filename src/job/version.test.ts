import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compareVersions } from "./version.ts"

describe("compareVersions", () => {
  it.each([
    ["1.9", "1.10"],
    ["1.0.0-rc.1", "1.0.0"],
    ["1.0.0-rc", "1.0.0-rc.0"],
    ["1.0.0-rc.9", "1.0.0-rc.10"],
    ["1.0.0-alpha", "1.0.0-beta"],
    ["1.0.0-9", "1.0.0-alpha"],
    ["0.9.9", "1"],
    ["1", "1.0.1"],
    ["2026-03-01", "2026-03-02"],
    ["2026-9-1", "2026-10-1"],
    ["20260301120000123456", "20260301120000123457"],
    ["1.2.x", "1.2.y"],
    ["v1.2.3", "v1.3.0"],
    ["1.2.3", "v1.3.0"],
  ])("%s is older than %s", (older, later) => {
    expect(compareVersions(older, later)).toBeLessThan(0)
    expect(compareVersions(later, older)).toBeGreaterThan(0)
  })

  it.each([
    ["1.0", "1.0.0"],
    ["1.0.0+build.7", "1.0.0+build.9"],
    ["v2", "2"],
    ["1.07", "1.7"],
    ["main", "main"],
  ])("%s is neither older nor later than %s", (one, other) => {
    expect(compareVersions(one, other)).toBe(0)
    expect(compareVersions(other, one)).toBe(0)
  })

  const part = fc.oneof(fc.constantFrom("0", "1", "9", "10", "01", "1a", "a", "rc", ""), fc.nat().map(String))
  const version = fc.oneof(
    fc
      .tuple(fc.array(part, { maxLength: 4 }), fc.option(fc.array(part, { maxLength: 3 })))
      .map(([release, pre]) => release.join(".") + (pre ? `-${pre.join(".")}` : "")),
    fc.string(),
  )

  it("is an order: whatever the texts, nothing comes both before and after another", () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(compareVersions(a, a)).toBe(0)
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0)
        const [first = "", second = "", third = ""] = [a, b, c].sort(compareVersions)
        expect(compareVersions(first, second)).toBeLessThanOrEqual(0)
        expect(compareVersions(second, third)).toBeLessThanOrEqual(0)
        expect(compareVersions(first, third)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 2_000 },
    )
  })
})
