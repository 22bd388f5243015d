/** What the checker reports about schedules, and what it accepts. */
import { describe, expect, it } from "vitest"
import { occurrenceId } from "../../src/schedule/occurrence-id.ts"
import type { AuditRow, FireRow } from "../support/history/final-read.ts"
import { runOfOccurrence } from "../support/history/occurrence-run.ts"
import { HOUR_US } from "./example.ts"
import {
  attemptOf,
  audit,
  fire,
  ID,
  LEDGER,
  MINUTE_US,
  passed,
  SCHEDULE,
  sentences,
  type Told,
} from "./schedule-example.ts"

describe("it reports nothing", () => {
  it("about a schedule that has decided each of its times", () => {
    expect(sentences({})).toEqual([])
  })

  it("about edited times, with the old ones before and the new ones after", () => {
    const before = { spec: { every: "2m" }, version: 1, state: "active", job: "work" }
    const ledger = [fire(2), fire(4), fire(5)]
    const read = { audit: [audit("schedule.put", 4.5, before)] }
    expect(sentences({ ledger, read, schedule: { version: 2 } })).toEqual([])
  })

  it.each([
    ["other times", { every: "1m", maxRuns: 1 }],
    ["the same times", { every: "1m" }],
  ])("about the time between an end and an edit that begins anew, with %s", (_, spec) => {
    const before = { spec, version: 1, state: "completed", job: "work" }
    // At the fourth minute, by the clock of the edit.
    const read = { audit: [audit("schedule.put", 4.01, before)] }
    expect(sentences({ ledger: [fire(1), fire(4), fire(5)], read, schedule: { version: 2 } })).toEqual([])
    const going = { ...before, spec: { every: "1m" }, state: "active" }
    const active = { ...read, audit: [audit("schedule.put", 4.01, going)] }
    expect(
      sentences({ ledger: [fire(1), fire(4), fire(5)], read: active, schedule: { version: 2 } }),
    ).toHaveLength(1)
  })

  it("about a schedule whose runs an edit used up, and that begins anew with it", () => {
    const before = { spec: { every: "1m", maxRuns: 1 }, version: 1, state: "active", job: "work" }
    const read = { audit: [audit("schedule.put", 4, before)] }
    const schedule = { version: 2, spec: { every: "1m", maxRuns: 2 } }
    const ledger = [fire(1, { decidedAtUs: HOUR_US + 4 * MINUTE_US }), fire(5)]
    expect(sentences({ ledger, read, schedule })).toEqual([])
    const more = { ...before, spec: { every: "1m", maxRuns: 2 } }
    const another = { audit: [audit("schedule.put", 4, more)] }
    expect(
      sentences({ ledger, read: another, schedule: { ...schedule, spec: { every: "1m" } } }),
    ).toHaveLength(1)
  })

  it("about an edit that is older than its audit row, because the clock was set forward between the two", () => {
    const before = { spec: { every: "1m" }, version: 1, state: "active", job: "work" }
    const read = { audit: [audit("schedule.put", 5, before)] }
    const schedule = { version: 2, spec: { every: "1h" }, cursorUs: HOUR_US + 2.5 * MINUTE_US }
    const ledger = [fire(1), fire(2)]
    const history = [{ op: "clock_set", us: 60_000_000 }] as const
    expect(sentences({ ledger, read, schedule, history })).toEqual([])
    expect(sentences({ ledger, read, schedule })).toHaveLength(1)
  })

  it("about a skip ahead of time, whether the new times have that occurrence or not", () => {
    const before = { spec: { every: "3m" }, version: 1, state: "active", job: "work" }
    const read = { audit: [audit("schedule.skipNext", 2.2, before), audit("schedule.put", 2.4, before)] }
    const leftOut = (minute: number) =>
      passed(minute, minute, { reason: "request", decidedAtUs: HOUR_US + 2.2 * MINUTE_US })
    const schedule = { version: 2, spec: { every: "1m" } }
    expect(sentences({ ledger: [leftOut(3), fire(4), fire(5), leftOut(6)], read, schedule })).toEqual([])
    const paused = passed(4, 5, { reason: "paused" })
    expect(sentences({ ledger: [leftOut(3), paused, leftOut(6)], read, schedule })).toEqual([])
    const around = passed(2.5, 4, { reason: "paused", count: 3 })
    const often = { version: 2, spec: { every: "30s" } }
    const rest = [fire(4.5), fire(5)]
    expect(sentences({ ledger: [around, leftOut(3), ...rest, leftOut(6)], read, schedule: often })).toEqual(
      [],
    )
  })

  it("about times that cannot be read here, only about their runs", () => {
    const spec = { cron: "0 0 * * *", exclude: ["2026-12-25"] }
    expect(sentences({ schedule: { spec } })).toEqual([])
    expect(sentences({ schedule: { spec }, ledger: [fire(3, { run: "x" })] })).toHaveLength(1)
  })

  it("about runs of a backfill", () => {
    const ledger = [
      ...LEDGER,
      fire(2, { generation: 2, run: runOfOccurrence(ID, (HOUR_US + 2 * MINUTE_US) / 1_000, 2) }),
    ]
    expect(sentences({ ledger, read: { audit: [audit("schedule.backfill", 5)] } })).toEqual([])
  })
})

describe("about occurrences it reports", () => {
  it.each([
    [
      "which is missing",
      [...LEDGER.slice(0, 2), fire(5)],
      "has come further than 1970-01-01T01:04:00.000Z, and nothing says what became of it.",
    ],
    [
      "how many are missing",
      [fire(5)],
      "has come further than 1970-01-01T01:01:00.000Z and 3 more, and nothing says what became of it.",
    ],
    [
      "which is none",
      [...LEDGER, fire(3.5)],
      "has decided about 1970-01-01T01:03:30.000Z (fired), which is none of its times.",
    ],
    [
      "that a stretch counts wrongly",
      [{ ...LEDGER[0], count: 3 } as FireRow, ...LEDGER.slice(1)],
      "has coalesced 3 from 1970-01-01T01:01:00.000Z to 1970-01-01T01:02:00.000Z, where there are 2.",
    ],
    [
      "what was decided twice",
      [...LEDGER, passed(4, 4, { generation: 2, reason: "paused" })],
      "has decided about 1970-01-01T01:04:00.000Z twice, as fired and as skipped.",
    ],
    [
      "that it has not come so far",
      [...LEDGER, fire(6)],
      "has decided about 1970-01-01T01:06:00.000Z, and has come no further than 1970-01-01T01:05:00.000Z.",
    ],
    [
      "what was left out and decided again",
      [...LEDGER, passed(4, 4, { generation: 2, reason: "request" })],
      "has decided about 1970-01-01T01:04:00.000Z twice, as skipped and as fired.",
    ],
    [
      "what was left out and is none",
      [...LEDGER, passed(3.5, 3.5, { reason: "request" })],
      "has left out 1970-01-01T01:03:30.000Z, which was none of its times then.",
    ],
    [
      "that more occurrences were left out than calls asked for",
      [...LEDGER.slice(0, 2), passed(4, 5, { reason: "request" })],
      "has left out 2 from 1970-01-01T01:04:00.000Z to 1970-01-01T01:05:00.000Z, where one is asked for.",
    ],
    [
      "that it has not come to what was left out, and was never edited",
      [...LEDGER, passed(6, 6, { reason: "request" })],
      "has left out 1970-01-01T01:06:00.000Z, and has come no further than 1970-01-01T01:05:00.000Z.",
    ],
    [
      "that nothing stands for what was missed",
      [passed(1, 3, { outcome: "coalesced", reason: "latest", intoUs: 7 }), fire(4), fire(5)],
      "has let another occurrence stand for 1970-01-01T01:01:00.000Z, and nothing says what became of that.",
    ],
    [
      "that its policy is another",
      [...LEDGER.slice(0, 3), passed(5, 5, { reason: "overlap" })],
      "lets its runs overlap, and has made none of 1970-01-01T01:05:00.000Z because of another.",
    ],
    [
      "that it left out what cannot be too late",
      [...LEDGER.slice(0, 3), passed(5, 5, { reason: "misfire" })],
      "finds nothing too late, and has left out 1970-01-01T01:05:00.000Z for that.",
    ],
    [
      "that it left out what cannot be too many",
      [...LEDGER.slice(0, 3), passed(5, 5, { reason: "limit" })],
      "has no bound to what it makes up for, and has left out 1970-01-01T01:05:00.000Z for that.",
    ],
    [
      "that it is due at another time",
      [...LEDGER.slice(0, 3), fire(5, { dueAtUs: HOUR_US + 5 * MINUTE_US + 1 })],
      "delays nothing, and has made 1970-01-01T01:05:00.000Z due at 1970-01-01T01:05:00.000Z.",
    ],
  ] as const)("%s", (_, ledger, says) => {
    expect(sentences({ ledger: [...ledger] })).toContain(`Schedule often ${says}`)
  })

  it("that a run is missing, or stands for something else, or is unknown to the ledger", () => {
    const [, , , last] = LEDGER.map(attemptOf)
    const attempts = LEDGER.slice(1, 3).map(attemptOf)
    const run = LEDGER[3]?.run
    const at = "has fired at 1970-01-01T01:05:00.000Z, and its run"
    expect(sentences({ read: { attempts } })).toEqual([`Schedule often ${at} ${run} is nowhere.`])
    if (!last) throw new Error("there are four")
    expect(sentences({ read: { attempts: [...attempts, { ...last, occurrenceUs: HOUR_US }] } })).toEqual([
      `Schedule often ${at} ${run} says that it stands for something else.`,
    ])
    const stranger = { ...last, run: "stranger", claim: "x", occurrenceUs: HOUR_US }
    expect(sentences({ read: { attempts: [...attempts, last, stranger] } })).toEqual([
      `Run stranger stands for 1970-01-01T01:00:00.000Z of schedule ${ID}, and the ledger does not ` +
        "know that occurrence.",
    ])
  })

  it("which id a run should have, as the product computes it", () => {
    for (const [at, generation] of [
      [0, 1],
      [1_790_000_000_123, 1],
      [1_790_000_000_123, 2],
    ] as const)
      expect(runOfOccurrence(ID, at, generation)).toBe(occurrenceId(ID, at, generation))
    expect(sentences({ ledger: [...LEDGER.slice(0, 3), fire(5, { run: "other" })] })).toContain(
      `Schedule often has given 1970-01-01T01:05:00.000Z the run other; it should have the id ${fire(5).run}.`,
    )
  })
})

describe("about times it reports", () => {
  it("that an occurrence was decided before it was due", () => {
    const ledger = [...LEDGER.slice(0, 3), fire(5, { decidedAtUs: HOUR_US })]
    expect(sentences({ ledger })).toEqual([
      `Run ${fire(5).run} of schedule ${ID} was made 300000000 µs before its occurrence was due, by ` +
        "the database's clock.",
    ])
  })

  it("that a cursor went back", () => {
    const seen = { op: "cursor", schedule: ID, version: 1 } as const
    const history = [3, 2].map((minute) => ({ ...seen, cursorUs: HOUR_US + minute * MINUTE_US }))
    expect(sentences({ history })).toEqual([
      `Schedule ${ID} went back from 1970-01-01T01:03:00.000Z to 1970-01-01T01:02:00.000Z in version 1.`,
    ])
    const ahead = [{ ...seen, cursorUs: HOUR_US + 7 * MINUTE_US }]
    expect(sentences({ history: ahead })).toEqual([
      `Schedule ${ID} was seen at 1970-01-01T01:07:00.000Z, and is at 1970-01-01T01:05:00.000Z in the end.`,
    ])
  })

  it("that a run was made of a pause, unless a resume asked for that", () => {
    const read = { audit: [audit("schedule.pause", 2.5), audit("schedule.resume", 4.5)] }
    const said = [3, 4].map(
      (minute) =>
        `Schedule often has made a run of 1970-01-01T01:0${minute}:00.000Z, when it was paused since ` +
        "1970-01-01T01:02:30.000Z.",
    )
    expect(sentences({ read })).toEqual(said)
    const [paused, resumed] = read.audit as [AuditRow, AuditRow]
    const madeUpFor = [paused, { ...resumed, after: { misfire: "all" } }]
    expect(sentences({ read: { audit: madeUpFor } })).toEqual([])
    const again = [audit("schedule.pause", 2.5), audit("schedule.resume", 3.5)]
    const later = [audit("schedule.pause", 3.6), { ...resumed, after: { misfire: "all" } }]
    expect(sentences({ read: { audit: [...again, ...later] } })).toEqual(said.slice(0, 1))
  })

  it("that an edit changed a run which was made before it", () => {
    const before = { spec: SCHEDULE.spec, version: 1, state: "active", job: "before" }
    const read = { audit: [audit("schedule.put", 3.5, before)] }
    expect(sentences({ read, schedule: { version: 2 } })).toEqual([
      `Run ${fire(3).run} was made before its schedule was edited, and was changed by that: its job ` +
        "was before and is work.",
    ])
  })

  it("that two runs of a schedule which may have one overlapped, retries included", () => {
    const attempts = LEDGER.slice(1).map(attemptOf)
    const [first, ...rest] = attempts
    if (!first) throw new Error("there are three")
    const failed = { ...first, outcome: "failed", runState: null } as const
    const again = { ...first, claim: "again", attempt: 2, cause: "failed", dueAtUs: first.finishedAtUs }
    const laterUs = HOUR_US + 4 * MINUTE_US + 1_500_000
    const late = { ...again, startedAtUs: laterUs, finishedAtUs: laterUs + 9_000 }
    const read = { attempts: [failed, late, ...rest] }
    expect(sentences({ read })).toEqual([])
    expect(sentences({ read, schedule: { settings: { overlap: "queue" } } })).toEqual([
      `Limit ${ID} allows 1 at once, and at 1970-01-01T01:04:00.002Z there were 2: ${fire(3).run}, ${fire(4).run}.`,
    ])
    expect(sentences({ read, schedule: { settings: { overlap: "replace" } } })).toEqual([])
  })
})

describe("about the line in which the runs of a schedule wait for each other", () => {
  const start = ({ run }: FireRow) =>
    ({ op: "start", run: run ?? "", claim: `of ${run}`, attempt: 1, lease: "L" }) as const
  const [earlier, later] = [fire(4), fire(5)]
  const line = { settings: { overlap: "queue" } }
  const overtaken = { history: [start(later), start(earlier)] }
  const said = (told: Told) =>
    sentences({ ...told, schedule: { ...line, ...told.schedule } }).filter((says) =>
      /later occurrence/.test(says),
    )

  it("it reports which run was overtaken by a later occurrence", () => {
    expect(said(overtaken)).toEqual([
      `Run ${earlier.run} was started after run ${later.run}, which stands for a later occurrence of its schedule.`,
    ])
  })

  it.each(["job.paused", "pool.paused"])("it reports that after %s, too", (action) => {
    const read = { audit: [{ ...audit(action, 5), schedule: null }] }
    expect(said({ ...overtaken, read })).toHaveLength(1)
  })

  it("it reports nothing where they start in their order", () => {
    expect(said({ history: [start(earlier), start(later)] })).toEqual([])
  })

  it.each<[string, Told]>([
    ["the schedule lets its runs overlap", { schedule: { settings: { overlap: "allow" } } }],
    ["it was edited", { schedule: { version: 2 } }],
    ["its past was made up for", { read: { audit: [audit("schedule.backfill", 5)] } }],
    ["the run was changed by hand", { read: { audit: [{ ...audit("run.expedite", 5), run: earlier.run }] } }],
    [
      "the earlier one was decided on later",
      { ledger: [...LEDGER.slice(0, 2), fire(4, { decidedAtUs: HOUR_US * 2 }), later] },
    ],
  ])("it reports nothing where %s", (_, told) => {
    expect(said({ ...overtaken, ...told })).toEqual([])
  })
})
