import { describe, expect, it } from "vitest"
import type { Host } from "../runtime/host.ts"
import type { CarillonEvent } from "./events.ts"
import { FOLD_MS } from "./fold.ts"
import { createLog, type Log } from "./log.ts"
import { type Logger, type Output, outputOf, terminalOutput } from "./logger.ts"

const NOW_MS = Date.parse("2026-03-01T09:00:00.123Z")

/** A process whose intervals end when the test says so. */
function stage() {
  const printed: string[] = []
  const timers = new Set<() => void>()
  const host = (isInteractive: boolean) => ({
    print: (_to: "out" | "err", line: string) => void printed.push(line),
    facts: { isInteractive } as Host["facts"],
    every: (_ms: number, run: () => void) => {
      timers.add(run)
      return { cancel: () => void timers.delete(run) }
    },
  })
  return {
    printed,
    timers,
    passInterval: () => {
      for (const run of [...timers]) run()
    },
    logOn: (output: Output): Log => createLog(host(false), output),
    terminal: (isInteractive: boolean): Log =>
      createLog(host(isInteractive), terminalOutput({ host: host(isInteractive), nowMs: () => NOW_MS })),
  }
}

function failed(over: Partial<Extract<CarillonEvent, { type: "attempt.finished" }>> = {}): CarillonEvent {
  return {
    type: "attempt.finished",
    run: "0190",
    job: "email.send",
    pool: "mail",
    tenant: "acme",
    attempt: 2,
    attemptId: "0190.7",
    worker: "lease",
    outcome: "failed",
    runState: "waiting",
    durationMs: 12.34567,
    error: { code: "EAUTH", message: "user 17 refused" },
    ...over,
  }
}

const FAILED = "attempt 2 failed in 12 ms, run is waiting"

describe("the log of a process", () => {
  it("has a time and words on a terminal", () => {
    const { terminal, printed } = stage()
    terminal(true).tell(failed())
    expect(printed).toEqual([
      expect.stringMatching(
        new RegExp(`^\\d\\d:\\d\\d:00\\.123 carillon warn: email\\.send 0190 ${FAILED}: user 17 refused$`),
      ),
    ])
  })

  it("is one JSON object for each line elsewhere, with the facts as fields", () => {
    const { terminal, printed } = stage()
    const log = terminal(false)
    log.tell(failed())
    log.tell({ type: "schedule.failed", schedule: "id", name: "nightly", code: "CRON", message: "never" })
    log.tell({
      type: "loop.failed",
      loop: "reaper",
      failures: 1,
      error: Object.assign(new Error("away"), { code: "X" }),
    })
    const time = "2026-03-01T09:00:00.123Z"
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([
      {
        ...{ time, level: "warn", name: "carillon", event: "attempt.finished", run: "0190", attempt: 2 },
        ...{ job: "email.send", pool: "mail", tenant: "acme", outcome: "failed", durationMs: 12.346 },
        error: { code: "EAUTH", message: "user 17 refused" },
        message: "email.send 0190 attempt 2 failed in 12 ms, run is waiting: user 17 refused",
      },
      { level: "error", schedule: "nightly", scheduleId: "id", error: { code: "CRON", message: "never" } },
      { event: "loop.failed", loop: "reaper", error: { code: "X", message: "away" } },
    ])
  })

  it.each([true, false])(
    "lets no text of users' make a line or reach the terminal as a command (terminal: %s)",
    (is) => {
      const { terminal, printed } = stage()
      const evil = "a\nerror: b\r\u001b[2J\u009b31m\u2028\u2029\u202e\u0000\u007f"
      const error = { code: evil, message: evil }
      terminal(is).tell(failed({ job: evil, tenant: evil, error }))
      expect(printed).toHaveLength(1)
      expect(printed[0]).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
      if (!is) expect(JSON.parse(printed[0] ?? "")).toMatchObject({ job: evil, tenant: evil, error })
    },
  )

  it("leaves out on a terminal what is of interest to developers alone", () => {
    const { terminal, printed } = stage()
    const log = terminal(true)
    log.tell({ type: "job.declared", job: "a" })
    log.tell(failed({ outcome: "succeeded", runState: "succeeded" }))
    expect(log.hearsRoutine()).toBe(false)
    expect(printed).toEqual([])
  })

  it("gives fields to a logger that is shaped like pino's, and asks it for its level", () => {
    const told: unknown[] = []
    const note = (level: string) => (fields: unknown, message?: string) =>
      void told.push([level, fields, message])
    const pino = {
      ...{ debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
      ...{ child: () => {}, bindings: () => {}, isLevelEnabled: (level: string) => level !== "debug" },
    }
    const log = stage().logOn(outputOf(pino as unknown as Logger))
    log.tell(failed())
    log.tell({ type: "job.declared", job: "a" })
    expect(log.hearsRoutine()).toBe(false)
    expect(told).toEqual([
      [
        "warn",
        expect.objectContaining({ event: "attempt.finished", run: "0190" }),
        expect.stringMatching(/^email/),
      ],
    ])
  })

  it("gives any other logger the text alone", () => {
    const told: unknown[][] = []
    const note = (...args: unknown[]) => void told.push(args)
    const log = stage().logOn(outputOf({ debug: note, info: note, warn: note, error: note }))
    log.tell(failed())
    expect(told).toEqual([["email.send 0190 attempt 2 failed in 12 ms, run is waiting: user 17 refused"]])
  })
})

describe("failures by the thousand", () => {
  it("are one line, and then one for each interval that says how many more there were", () => {
    const { terminal, printed, passInterval, timers } = stage()
    const log = terminal(false)
    for (let n = 0; n < 1_000; n += 1)
      log.tell(failed({ run: `r${n}`, error: { code: "EAUTH", message: `user ${n} refused` } }))
    expect(printed).toHaveLength(1)
    passInterval()
    expect(printed).toHaveLength(2)
    expect(JSON.parse(printed[1] ?? "")).toMatchObject({
      ...{ level: "warn", event: "attempt.finished", job: "email.send", folded: 999, withinMs: FOLD_MS },
      message: `999 more of the same in the last 10 s: email.send r0 ${FAILED}: user 0 refused`,
    })
    expect(JSON.parse(printed[1] ?? "")).not.toHaveProperty("run")
    for (let n = 0; n < 5; n += 1) log.tell(failed())
    passInterval()
    expect(JSON.parse(printed[2] ?? "")).toMatchObject({ folded: 5 })
    // After an interval in which nothing came, the next is told whole again.
    passInterval()
    expect(timers.size).toBe(0)
    log.tell(failed())
    expect(printed).toHaveLength(4)
  })

  it("are told apart by job, by error, and by what becomes of the run", () => {
    const { terminal, printed } = stage()
    const log = terminal(false)
    const kinds = [failed(), failed({ job: "other" }), failed({ runState: "dead" })]
    kinds.push(failed({ error: { code: "EAUTH", message: "quite different" } }))
    for (const kind of [...kinds, ...kinds]) log.tell(kind)
    expect(printed).toHaveLength(kinds.length)
  })

  it("of more kinds than anyone reads are folded as well", () => {
    const { terminal, printed, passInterval } = stage()
    const log = terminal(false)
    for (let n = 0; n < 5_000; n += 1) log.tell(failed({ job: `job-${n}` }))
    expect(printed).toHaveLength(1_001)
    passInterval()
    expect(printed).toHaveLength(1_002)
    expect(JSON.parse(printed[1_001] ?? "").message).toMatch(
      /^3999 more failures of other kinds in the last 10 s/,
    )
  })

  it("of a loop or a listener are folded too", () => {
    const { terminal, printed } = stage()
    const log = terminal(false)
    for (let n = 1; n <= 50; n += 1) {
      log.tell({ type: "loop.failed", loop: "reaper", error: new Error("no schema"), failures: n })
      log.tellListenerFailure(new Error("full"))
    }
    // The first failure of a loop is a warning, the next are errors.
    expect(printed).toHaveLength(3)
  })

  it("are told to the end when the process stops, and no timer is left", () => {
    const { terminal, printed, timers } = stage()
    const log = terminal(false)
    for (let n = 0; n < 3; n += 1) log.tell(failed())
    log.close()
    expect(printed).toHaveLength(2)
    expect(timers.size).toBe(0)
    log.tell(failed())
    expect(printed).toHaveLength(3)
    expect(timers.size).toBe(0)
  })

  it("reach a logger that is broken without an error of their own", () => {
    const fail = () => {
      throw new Error("the disk of the log is full")
    }
    const { logOn, passInterval } = stage()
    const log = logOn(outputOf({ debug: fail, info: fail, warn: fail, error: fail }))
    for (let n = 0; n < 3; n += 1) log.tell(failed())
    passInterval()
    log.tellListenerFailure(new Error("no"))
  })
})
