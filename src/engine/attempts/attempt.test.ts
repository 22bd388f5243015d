import { describe, expect, it } from "vitest"
import { AttemptAborted } from "../../errors.ts"
import { type AnyJob, defineJob } from "../../job/define.ts"
import { Bury, Cancel, Retry, Snooze } from "../../job/verdict.ts"
import type { Host } from "../../runtime/host.ts"
import { createSystemHost } from "../../runtime/system.ts"
import { type ClaimedRun, claimedRun } from "../queue/claimed-run.ts"
import { type AttemptOutcome, type AttemptParts, startAttempt } from "./attempt.ts"
import type { CommittedSuccess } from "./attempt-transaction.ts"

const system = createSystemHost()
/** Last words are not waited for here; hours are. */
const hasty: Host = { ...system, after: (ms, run) => system.after(ms > 60_000 ? ms : 0, run) }

function claim(job: AnyJob, input = "null"): ClaimedRun {
  const fence = { lease: system.newId(), claim: 1n }
  const row = { id: system.newId(), priority: 0, solo: false, due_ms: 0, input, extra: null }
  return claimedRun({ row, fence, claimName: "1", job, pool: job.pool, claimedAtMs: 0 })
}

/** Starts an attempt whose outcome can be waited for. */
function start(parts: AttemptParts, run: ClaimedRun) {
  let decide = (_: AttemptOutcome) => {}
  const outcome = new Promise<AttemptOutcome>((resolve) => {
    decide = resolve
  })
  const listener = {
    onBegin: () => {},
    onOutcome: (_: unknown, decided: AttemptOutcome) => decide(decided),
    onOverrun: () => {},
    onEnded: () => {},
  }
  return Object.assign(startAttempt(parts, run, listener), { outcome })
}

/** What an attempt works with; whether its end is committed, or just being, is up to the test. */
function partsOf(
  host: Host,
  completed: () => CommittedSuccess | undefined = () => undefined,
  ending: () => Promise<void> | undefined = () => undefined,
): AttemptParts {
  const transaction = () => Promise.reject(new Error("no transactions here"))
  const completer = { open: () => ({ transaction, completed, ending, underWay: () => undefined }) }
  return { host, completer, progress: { report: () => {} } }
}

const endless = defineJob({ name: "endless", timeout: "1h", run: () => new Promise<void>(() => {}) })
/** Completes its run, and goes on for ever. */
const completing = defineJob({
  name: "completing",
  run: (_: undefined, ctx) => {
    ctx.transaction(async () => {}).catch(() => {})
    return new Promise<void>(() => {})
  },
})
type Reason = ConstructorParameters<typeof AttemptAborted>[0]
const told = (code: Reason, run: ClaimedRun) => new AttemptAborted(code, run.id, "told to end")

describe("an attempt that was told to end", () => {
  it("leaves no timer behind that would keep the process alive, even if its handler never ends", async () => {
    const timers = new Set<object>()
    const host = {
      ...hasty,
      after: (ms: number, run: () => void) => {
        const timer = hasty.after(ms, () => {
          timers.delete(timer)
          run()
        })
        timers.add(timer)
        return {
          cancel: () => {
            timers.delete(timer)
            timer.cancel()
          },
        }
      },
    }
    const run = claim(endless)
    const attempt = start(partsOf(host), run)
    expect(timers.size).toBe(1)
    attempt.abort(told("STOPPING", run))
    expect(await attempt.outcome).toEqual({ kind: "released" })
    expect(timers.size).toBe(0)
  })

  it.each([
    ["ATTEMPT_TIMEOUT", { kind: "timed_out", error: expect.objectContaining({ message: "told to end" }) }],
    ["LEASE_LOST", { kind: "lost" }],
    ["RUN_CANCELLED", { kind: "cancelled", error: expect.objectContaining({ code: "RUN_CANCELLED" }) }],
    ["STOPPING", { kind: "released" }],
  ] as const)("because of %s ends as that says, whatever its handler still does", async (code, outcome) => {
    const run = claim(endless)
    const attempt = start(partsOf(hasty), run)
    attempt.abort(told(code, run))
    expect(await attempt.outcome).toEqual(outcome)
    expect(attempt.over()).toBe(false)
  })

  it.each(["ATTEMPT_TIMEOUT", "LEASE_LOST", "RUN_CANCELLED", "STOPPING"] as const)(
    "because of %s after its end was committed has ended as committed",
    async (code) => {
      const done = {
        kind: "completed",
        result: "1",
        limitKeys: [],
      } as const
      const run = claim(completing)
      const attempt = start(
        partsOf(hasty, () => done),
        run,
      )
      attempt.abort(told(code, run))
      expect(await attempt.outcome).toBe(done)
    },
  )

  it("has no place to hold under a limit when its end was committed", async () => {
    const done = {
      kind: "completed",
      result: "1",
      limitKeys: [],
    } as const
    const run = { ...claim(completing), limited: true }
    const attempt = start(
      partsOf(hasty, () => done),
      run,
    )
    attempt.abort(told("ATTEMPT_TIMEOUT", run))
    expect(attempt.holdsPlace()).toBe(false)
    expect(await attempt.outcome).toBe(done)
  })

  it.each(["ATTEMPT_TIMEOUT", "LEASE_LOST", "RUN_CANCELLED", "STOPPING"] as const)(
    "because of %s while its end is being committed has ended as committed",
    async (code) => {
      const committed = {
        kind: "completed",
        result: "1",
        limitKeys: [],
      } as const
      let done: CommittedSuccess | undefined
      let commit = () => {}
      const ending = new Promise<void>((resolve) => {
        commit = resolve
      })
      const run = claim(completing)
      const parts = partsOf(
        hasty,
        () => done,
        () => ending,
      )
      const attempt = start(parts, run)
      attempt.abort(told(code, run))
      done = committed
      commit()
      expect(await attempt.outcome).toBe(committed)
    },
  )
})

describe("an attempt whose handler has something to say about its run", () => {
  const verdicts = [
    ["snoozes", Snooze("2s"), { kind: "snoozed", forMs: 2_000 }],
    ["cancels it", Cancel("old"), { kind: "cancelled", error: { code: "RUN_CANCELLED", message: "old" } }],
    ["buries it", Bury("bad"), { kind: "failed", retryable: false, error: { code: "RUN_BURIED" } }],
    [
      "wants another attempt",
      Retry({ after: "3s", reason: "busy" }),
      { kind: "failed", retryable: true, afterMs: 3_000, error: { code: "RETRY_ASKED", message: "busy" } },
    ],
  ] as const

  it.each(verdicts)("%s, by returning or by throwing", async (_, verdict, outcome) => {
    for (const run of [() => verdict, () => Promise.reject(verdict)]) {
      const job = defineJob({ name: "says", run })
      expect(await start(partsOf(hasty), claim(job)).outcome).toMatchObject(outcome)
    }
  })
})
