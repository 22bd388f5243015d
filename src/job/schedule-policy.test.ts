import { describe, expect, it } from "vitest"
import type { OverlapOption } from "./overlap.ts"
import {
  type MisfireOption,
  misfireCheck,
  overlapCheck,
  policyFaults,
  readPolicy,
} from "./schedule-policy.ts"

const unlimited = { withinMs: null, max: null }

describe("a misfire policy", () => {
  it.each<[unknown, object]>([
    ["latest", { mode: "latest", ...unlimited }],
    ["all", { mode: "all", ...unlimited }],
    ["skip", { mode: "latest", withinMs: 60_000, max: null }],
    [
      { mode: "latest", within: "5m" },
      { mode: "latest", withinMs: 300_000, max: null },
    ],
    [
      { mode: "all", within: "2d", max: 10 },
      { mode: "all", withinMs: 172_800_000, max: 10 },
    ],
    ["FIRE_ONCE", { mode: "latest", ...unlimited }],
    ["FIRE_NOW", { mode: "latest", ...unlimited }],
    ["DO_NOTHING", { mode: "latest", withinMs: 60_000, max: null }],
    ["BACKFILL_ALL", { mode: "all", ...unlimited }],
    ["IGNORE_MISFIRE", { mode: "all", ...unlimited }],
    [{ startingDeadlineSeconds: 200 }, { mode: "latest", withinMs: 200_000, max: null }],
    [{ catchup_window: "1d" }, { mode: "all", withinMs: 86_400_000, max: null }],
    [{ fill: "2h" }, { mode: "all", withinMs: 7_200_000, max: null }],
    [{ Persistent: true }, { mode: "latest", ...unlimited }],
  ])("%j is understood", (option, misfire) => {
    expect(misfireCheck(option, "misfire")).toEqual([])
    expect(readPolicy({ misfire: option as MisfireOption }).misfire).toEqual(misfire)
  })

  it.each<unknown>([
    "sometimes",
    7,
    null,
    {},
    { mode: "skip" },
    { mode: "all", within: "soon" },
    { mode: "all", within: 0 },
    { mode: "all", max: 0 },
    { mode: "all", max: 10_001 },
    { fill: "soon" },
    { startingDeadlineSeconds: "soon" },
    "toString",
    { toString: 1 },
  ])("%j is not", (option) => {
    expect(misfireCheck(option, "misfire")).not.toEqual([])
  })
})

describe("an overlap policy", () => {
  it.each<[string, OverlapOption]>([
    ["skip", "skip"],
    ["queue", "queue"],
    ["collapse", "collapse"],
    ["replace", "replace"],
    ["allow", "allow"],
    ["BufferAll", "queue"],
    ["CancelOther", "replace"],
    ["AllowAll", "allow"],
    ["Forbid", "collapse"],
  ])("%s is understood", (option, overlap) => {
    expect(overlapCheck(option, "overlap")).toEqual([])
    expect(readPolicy({ overlap: option as OverlapOption }).overlap).toBe(overlap)
  })

  it("BufferOne is refused with the difference to what we have", () => {
    expect(overlapCheck("BufferOne", "overlap")).toEqual([
      { path: "overlap", message: expect.stringMatching(/oldest.*`collapse` keeps the newest/) },
    ])
  })

  it.each<unknown>(["sometimes", "toString", 1, null])("%j is not", (option) => {
    expect(overlapCheck(option, "overlap")).not.toEqual([])
  })
})

describe("both together", () => {
  it("are latest and skip by default, and queue where nothing is to be dropped", () => {
    expect(readPolicy({})).toEqual({
      misfire: { mode: "latest", ...unlimited },
      overlap: "skip",
      from: { misfire: "default", overlap: "default" },
    })
    expect(readPolicy({ misfire: "all" }).overlap).toBe("queue")
    expect(readPolicy({ misfire: { mode: "all", within: "1d" } }).overlap).toBe("queue")
  })

  it.each(["skip", "collapse", "replace"] as const)(
    "all and %s cannot be honoured, and are refused",
    (overlap) => {
      for (const misfire of ["all", { mode: "all", max: 3 }, "BACKFILL_ALL"] as MisfireOption[]) {
        expect(policyFaults(misfire, overlap)).toEqual([
          { path: "overlap", message: expect.stringMatching(/Use "queue".*or misfire "latest"/) },
        ])
      }
      expect(policyFaults("latest", overlap)).toEqual([])
    },
  )

  it.each([undefined, "queue", "allow"] as const)("all and %s can", (overlap) => {
    expect(policyFaults("all", overlap)).toEqual([])
  })
})
