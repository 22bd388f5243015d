// The handlers of the standard load: quick, slow, deaf, failing, hanging, limited, and those that finish in a
// transaction.
import { recordHandler } from "../support/history/record-events.mjs"

const { Bury, defineJob } = await import("../../dist/index.js")

/** Several times what the judge takes for the same moment: one that comes back at once is seen. */
const DELAY_MS = 500
const retry = { attempts: 5, delay: DELAY_MS }

const ATTEMPTS = { work: 5, stubborn: 5, single: 5, timed: 2, doomed: 2, booking: 5, tick: 5, tock: 5 }
/** How many runs of `single` are executed at once. */
const CAP = 2

/** What is known of the runs of a job, for the judge. */
export function factsOf(job) {
  return {
    job,
    ...(ATTEMPTS[job] && { attempts: ATTEMPTS[job], retry: { delayMs: DELAY_MS } }),
    ...(job === "single" && { limits: [{ key: "job:single", cap: CAP }] }),
    ...(job === "timed" && { timeoutMs: 300 }),
    ...(job === "booking" && { timeoutMs: 5_000, finishes: true }),
  }
}

export function createJobs({ record, rest }) {
  const pause = (ms, signal) => (ms > 0 ? rest(ms, signal) : undefined)
  const working = async ({ ms = 0, failUntil = 0 }, ctx) => {
    await pause(ms, ctx.signal)
    if (ctx.attempt < failUntil) throw new Error(`not before attempt ${failUntil}`)
    return process.pid
  }
  return {
    work: defineJob({ name: "work", retry, run: recordHandler(record, working) }),
    /** Goes on whatever its signal says. */
    stubborn: defineJob({
      name: "stubborn",
      retry,
      run: recordHandler(record, async ({ ms = 0 }) => {
        await pause(ms)
        return process.pid
      }),
    }),
    single: defineJob({ name: "single", retry, concurrency: CAP, run: recordHandler(record, working) }),
    timed: defineJob({
      name: "timed",
      retry: { attempts: 2, delay: DELAY_MS },
      timeout: "300ms",
      run: recordHandler(record, working),
    }),
    doomed: defineJob({
      name: "doomed",
      retry: { attempts: 2, delay: DELAY_MS },
      run: recordHandler(record, async ({ bury = false }) => {
        if (bury) return Bury("it is no use")
        throw new Error("it never works")
      }),
    }),
    /** Its effect is a row, written in the transaction in which the run ends. */
    booking: defineJob({
      name: "booking",
      retry,
      // Its statements may wait for a connection that has gone silent, and only this ends that before ten minutes.
      timeout: "5s",
      run: recordHandler(record, async ({ schema, ms = 0 }, ctx) => {
        const claim = ctx.attemptId.slice(ctx.attemptId.lastIndexOf(".") + 1)
        return ctx.transaction(async (tx) => {
          const bits = BigInt.asIntN(64, BigInt(`0x${claim}`)).toString()
          await tx.query(`insert into "${schema}".finishes (run, claim) values ($1, $2)`, [ctx.runId, bits])
          await pause(ms)
          return process.pid
        })
      }),
    }),
    tick: defineJob({ name: "tick", retry, run: recordHandler(record, working) }),
    tock: defineJob({ name: "tock", retry, run: recordHandler(record, working) }),
  }
}
