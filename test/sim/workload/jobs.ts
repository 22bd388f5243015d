/** The jobs of a simulation: one handler that does what its input says, under different settings. */

import type { JobContext } from "../../../src/job/context.ts"
import { type AnyJob, defineJob } from "../../../src/job/define.ts"
import type { JobSettings, RetryOptions } from "../../../src/job/options.ts"
import { Bury, Cancel, Snooze } from "../../../src/job/verdict.ts"
import { claimOf, recordHandler } from "../../support/history/record-events.mjs"
import type { Chance } from "../kernel/seeded-random.ts"
import type { Life } from "../world/process.ts"
import type { Plan } from "./plan.ts"

/** What the handler of a run is to do. */
export interface Task {
  /** Which enqueue it comes from, and which of its items it is: known before its id is. */
  readonly call?: number
  readonly item?: number
  readonly ms: number
  /** Fails so many times before it does not. */
  readonly fails?: number
  readonly verdict?: "snooze" | "cancel" | "bury"
  /** Goes on whatever its signal says. */
  readonly stubborn?: boolean
  /** Enqueues another one, if it has a transaction to do that in. */
  readonly another?: boolean
}

export interface JobParts {
  readonly life: Pick<Life, "host" | "record" | "chance">
  readonly plan: Plan
  readonly schema: string
  /** Enqueues another run in the transaction of a handler. */
  readonly enqueueIn: (tx: object) => Promise<void>
}

/** Its runs end in a transaction of their own. */
export const BOOKING = "booking"
/**
 * A transaction that is never answered holds its run for as long as it may stay open: without a timeout, 10 minutes.
 */
const BOOKING_TIMEOUT_MS = 5_000
export const TIMEOUT_MS = 300

/** The jobs by what is special about them. */
export function makeJobs({ life, plan, schema, enqueueIn }: JobParts): AnyJob[] {
  const retry = retryOf(plan)
  const run = recordHandler(life.record, async (input, ctx: JobContext) => {
    const task = input as Task
    await life.host.sleep(task.ms, task.stubborn ? undefined : ctx.signal)
    if (ctx.signal.aborted && !task.stubborn) throw ctx.signal.reason
    if (ctx.attempt <= (task.fails ?? 0)) throw new Error(`not before attempt ${(task.fails ?? 0) + 1}`)
    if (task.verdict === "snooze" && life.chance.happens(0.6)) return Snooze(life.chance.between(10, 800))
    if (task.verdict === "cancel") return Cancel("its handler says so")
    if (task.verdict === "bury") return Bury("its handler says so")
    if (ctx.job !== BOOKING) return task.ms
    return ctx.transaction(async (tx) => {
      const values = [ctx.runId, claimOf(ctx.attemptId)]
      await tx.query(`insert into "${schema}".finishes (run, claim) values ($1, $2)`, values)
      if (task.another) await enqueueIn(tx)
      return task.ms
    })
  })
  const job = (settings: JobSettings): AnyJob => defineJob<Task, unknown>({ retry, ...settings, run })
  return [
    job({ name: "plain" }),
    job({ name: "limited", concurrency: plan.cap }),
    job({ name: "timed", timeout: TIMEOUT_MS }),
    job({ name: "side", pool: "side" }),
    job({ name: "once", onLost: "bury" }),
    job({ name: "now", settle: "now" }),
    job({ name: BOOKING, timeout: BOOKING_TIMEOUT_MS }),
  ]
}

function retryOf({ attempts, retry }: Plan): RetryOptions {
  if ("delayMs" in retry) return { attempts, delay: retry.delayMs }
  if ("delaysMs" in retry) return { attempts, delays: retry.delaysMs }
  const { baseMs, factor, capMs } = retry
  return { attempts, base: baseMs, factor, cap: capMs }
}

/** A task as the plan has them. */
export function drawTask(plan: Plan, chance: Chance): Task {
  const has = (trait: Parameters<Plan["traits"]["has"]>[0]) =>
    plan.traits.has(trait) && chance.happens(plan.traitRate)
  const ms = chance.happens(0.2)
    ? 0
    : Math.round(chance.skewed(1, plan.handlerMs * (chance.happens(0.1) ? 5 : 1)))
  return {
    ms,
    ...(has("fails") && { fails: chance.between(1, plan.attempts - 1) }),
    ...(has("dies") && { fails: plan.attempts }),
    ...(has("snoozes") && { verdict: "snooze" }),
    ...(has("cancels itself") && { verdict: chance.pick(["cancel", "bury"]) }),
    ...(has("stubborn") && { stubborn: true }),
    ...(has("enqueues another") && { another: true }),
  }
}
