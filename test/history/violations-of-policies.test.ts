/** What the checker reports about schedules that break their policies. */
import { describe, expect, it } from "vitest"
import type { FireRow } from "../support/history/final-read.ts"
import { HOUR_US } from "./example.ts"
import { audit, fire, LEDGER, MINUTE_US, passed, sentences } from "./schedule-example.ts"

describe("about policies it reports", () => {
  it.each([
    ["all", "latest", "makes a run for each occurrence, and has let another stand for"],
    ["all", "misfire", "finds nothing too late, and has left out"],
    ["all", "limit", "has no bound to what it makes up for, and has left out"],
    [{ mode: "all" }, "limit", "has no bound to what it makes up for, and has left out"],
    [{ mode: "all", max: 2 }, "misfire", "finds nothing too late, and has left out"],
    ["skip", "limit", "has no bound to what it makes up for, and has left out"],
    [{ mode: "all", max: 2 }, "limit", undefined],
    [{ mode: "all", within: "1m" }, "limit", undefined],
    [{ mode: "latest", within: "1m" }, "misfire", undefined],
    ["skip", "misfire", undefined],
    ["DO_NOTHING", "misfire", undefined],
  ] as const)("with misfire %j, occurrences that were left out as %s: %s", (misfire, reason, says) => {
    const into =
      reason === "latest" ? ({ outcome: "coalesced", intoUs: HOUR_US + 3 * MINUTE_US } as const) : {}
    const ledger = [passed(1, 2, { reason, ...into }), ...LEDGER.slice(1)]
    const said = sentences({ ledger, schedule: { settings: { overlap: "allow", misfire } } })
    const end = reason === "latest" ? "." : " for that."
    expect(said).toEqual(says === undefined ? [] : [`Schedule often ${says} 1970-01-01T01:01:00.000Z${end}`])
  })

  it.each([
    [
      "latest",
      [1, 2, 3],
      3.1,
      "makes up for the newest alone, and has made a run of",
      "02:00.000Z when 1970-01-01T01:03:00.000Z was due",
    ],
    ["latest", [1, 2, 3], 2.9, undefined, ""],
    [
      "skip",
      [1, 3],
      4.1,
      "has made a run of",
      "03:00.000Z, which was too late for that since before 1970-01-01T01:01:00.000Z",
    ],
    ["skip", [1, 3], 3.9, undefined, ""],
    [
      { mode: "all", max: 1 },
      [1, 2, 3],
      3.1,
      "makes up for 1 at the most, and has made 3 runs at once from",
      "01:00.000Z on",
    ],
    [{ mode: "all", max: 2 }, [1, 2, 3, 4], 4.1, undefined, ""],
    [
      { mode: "all", within: "90s" },
      [1, 2, 3, 4, 5],
      5.1,
      "has made 5 runs at once from",
      "01:00.000Z on, some of which were too late for that by the others",
    ],
    [{ mode: "all", within: "90s" }, [1, 2, 3, 4], 4.1, undefined, ""],
  ] as const)("with misfire %j, a decision about %j at %d: %s", (misfire, minutes, at, says, end) => {
    const decidedAtUs = HOUR_US + at * MINUTE_US
    const ledger = minutes.map((minute) => fire(minute, { decidedAtUs }))
    const last = minutes.at(-1) ?? 0
    const schedule = { settings: { overlap: "allow", misfire }, cursorUs: HOUR_US + last * MINUTE_US }
    const said = sentences({ ledger, schedule })
    const expected = says === undefined ? [] : [`Schedule often ${says} 1970-01-01T01:${end}.`]
    expect(said.filter((each) => each.includes("has made"))).toEqual(expected)
  })

  it("that one run may stand for all if a resume said so, and none waits for another", () => {
    const settings = { overlap: "queue", misfire: "all" }
    const resumed = { ...audit("schedule.resume", 3), after: { misfire: "latest" } }
    const read = { audit: [audit("schedule.pause", 0.7), resumed] }
    const told = { read, schedule: { settings } }
    const [stretch, ...rest] = LEDGER
    const decidedAtUs = HOUR_US + 3 * MINUTE_US
    const ledger = [{ ...(stretch as FireRow), decidedAtUs }, ...rest]
    expect(sentences({ ...told, ledger })).toEqual([])
    const inTheWay = [...ledger.slice(0, 3), passed(5, 5, { reason: "overlap" })]
    expect(sentences({ ...told, ledger: inTheWay })).toEqual([
      "Schedule often lets its runs wait for each other, and has made none of " +
        "1970-01-01T01:05:00.000Z because of another.",
    ])
  })
})
