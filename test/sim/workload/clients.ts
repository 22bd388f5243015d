/** The clients of a simulation: they call processes at random, until they are told to stop. */
import type { EnqueueOptions } from "../../../src/api/runs/enqueue-options.ts"
import { limitKeyOf } from "../../../src/engine/enqueue/new-run.ts"
import { CarillonError } from "../../../src/errors.ts"
import type { Life } from "../world/process.ts"
import { type Call, type Calls, enqueueRecorded, recordFailure } from "./calls.ts"
import { BOOKING, drawTask, TIMEOUT_MS } from "./jobs.ts"
import type { Plan, Request, Trait } from "./plan.ts"
import { askAboutSchedules } from "./schedules.ts"
import { enqueueInTransaction, type UserConnections } from "./user-transaction.ts"

export interface ClientParts {
  readonly plan: Plan
  readonly calls: Calls
  readonly connections: UserConnections
  readonly isOver: () => boolean
  /** What clients know: the acknowledged runs of any of them. */
  readonly known: string[]
  readonly onTrouble: (says: string) => void
  /** Clients with a call in flight. */
  readonly busy: Set<object>
}

const BY = { actor: "client", reason: "as the seed says" }
/** Errors that a client has to expect. */
const EXPECTED: ReadonlySet<string> = new Set([
  "CLOSED",
  "DATABASE_BUSY",
  "DATABASE_DEADLINE",
  "DATABASE_FULL",
  "DATABASE_READ_ONLY",
  "DATABASE_UNAVAILABLE",
  "OUTCOME_UNKNOWN",
  "RUN_CANCELLED",
  "RUN_DEAD",
  "RUN_DISCARDED",
  "RUN_EXPIRED",
  "RUN_NOT_DEAD",
  "RUN_NOT_FOUND",
  "RUN_REPLACED",
  "SCHEDULE_BEHIND",
  "SCHEDULE_CHANGED",
  "SCHEDULE_NOT_FOUND",
  "SCHEDULE_STATE",
  "TRANSACTION_OVER",
])

/** Runs one client against a process, for as long as it lives. */
export async function runClient(parts: ClientParts, life: Life): Promise<void> {
  const { plan, isOver, busy } = parts
  const { chance, host } = life
  const requests = plan.requests.flatMap(([request, weight]) => Array.from({ length: weight }, () => request))
  const self = { life }
  while (life.isAlive()) {
    await host.sleep(chance.skewed(5, 2 * plan.restMs))
    if (isOver()) return
    busy.add(self)
    try {
      await ask(parts, life, chance.pick(requests))
    } catch (error) {
      const code = error instanceof CarillonError ? error.code : undefined
      if (code === undefined || !EXPECTED.has(code)) parts.onTrouble(`a client was told ${String(error)}`)
      if (code === "CLOSED") return
    } finally {
      busy.delete(self)
    }
  }
}

async function ask(parts: ClientParts, life: Life, request: Request): Promise<void> {
  const { known } = parts
  const { carillon, chance, record } = life
  switch (request) {
    case "enqueue":
      return enqueue(parts, life, 1)
    case "enqueue many":
      return enqueue(parts, life, chance.between(2, 8))
    case "enqueue in a transaction":
      return inTransaction(parts, life)
    case "pause and resume":
      return pauseForAWhile(life)
    case "schedules":
      return askAboutSchedules(parts.plan, life)
  }
  if (known.length === 0) return
  const run = known[chance.between(Math.max(0, known.length - 12), known.length - 1)] as string
  switch (request) {
    case "cancel": {
      record("cancel_invoke", { run })
      const { changed } = await carillon.runs.cancel(run, BY)
      if (changed) record("cancel_ok", { run })
      return
    }
    case "expedite":
      await carillon.runs.expedite(run, {
        ...BY,
        ...(chance.happens(0.5) && { priority: chance.between(-2, 2) }),
      })
      return
    case "replay":
      return carillon.deadLetters.replay(run, BY)
    case "discard":
      return carillon.deadLetters.discard(run, BY)
    case "wait for a result": {
      const enough = new AbortController()
      void life.host.sleep(3_000).then(() => enough.abort())
      await carillon.runs.wait(run, { signal: enough.signal }).catch((error: unknown) => {
        if (!enough.signal.aborted) throw error
      })
      return
    }
    case "read":
      await Promise.all([
        carillon.runs.get(run),
        carillon.runs.attempts(run),
        carillon.runs.list({ limit: 5 }),
      ])
  }
}

/** What is special about the runs of one enqueue. */
function drawWanted({ plan }: ClientParts, { chance }: Life): { job: string; options: EnqueueOptions } {
  const has = (trait: Trait) => plan.traits.has(trait) && chance.happens(plan.traitRate)
  const jobs = [
    ...(has("limit") || has("limit by key") ? ["limited"] : []),
    ...(has("timeout") ? ["timed"] : []),
    ...(has("other pool") ? ["side"] : []),
    ...(has("bury when lost") ? ["once"] : []),
    ...(has("settle now") ? ["now"] : []),
    ...(has("own transaction") ? [BOOKING] : []),
  ]
  const job = jobs.length > 0 ? chance.pick(jobs) : "plain"
  const options: EnqueueOptions = {
    ...(has("delay") && { delay: chance.between(0, 3_000) }),
    ...(has("priority") && { priority: chance.between(-2, 2) }),
    ...(has("key") && drawKey(chance)),
    ...(has("start within") && { startWithin: chance.between(1, 2_000) }),
    ...(job === "limited" && has("limit by key") && { concurrencyKey: `user ${chance.between(1, 2)}` }),
    // Without a draw of its own, so that all else of a seed stays as it is: handlers under limits that go on after it.
    ...(job === "limited" && plan.traits.has("timeout") && { timeout: TIMEOUT_MS }),
  }
  return { job, options }
}

/** Few that are free again, so that many want the same, and more of those that are remembered. */
function drawKey({ between, pick }: Life["chance"]): Pick<EnqueueOptions, "key" | "keyFor"> {
  const kind = pick(["live", "timed", "remembered"] as const)
  if (kind === "remembered") return { key: `once ${between(1, 20)}` }
  return { key: `key ${between(1, 3)}`, keyFor: kind === "live" ? "live" : 2_000 }
}

/** Says of a call what it asks for. */
function open({ plan, calls }: ClientParts, life: Life, job: string, options: EnqueueOptions): Call {
  const { delay, startWithin, key, keyFor, priority, timeout, concurrencyKey = null } = options
  return calls.open(life, {
    job,
    attempts: plan.attempts,
    retry: plan.retry,
    ...(typeof delay === "number" && { delayMs: delay }),
    ...(startWithin !== undefined && { mayExpire: true }),
    ...(key !== undefined && typeof keyFor !== "number" && { key }),
    ...(key !== undefined && keyFor === undefined && { remembered: true as const }),
    ...(priority !== undefined && { priority }),
    ...(job === "limited" && { limits: [{ key: limitKeyOf(job, { concurrencyKey }), cap: plan.cap }] }),
    ...(job === BOOKING && { finishes: true as const }),
    ...((job === "timed" || timeout !== undefined) && { timeoutMs: TIMEOUT_MS }),
  })
}

async function enqueue(parts: ClientParts, life: Life, count: number): Promise<void> {
  const { job, options } = drawWanted(parts, life)
  const { key, keyFor, ...rest } = options
  // Many with one key would be one.
  const wanted = count === 1 ? options : rest
  const tasks = Array.from({ length: count }, () => drawTask(parts.plan, life.chance))
  const ids = await enqueueRecorded(life, open(parts, life, job, wanted), { job, tasks, options: wanted })
  parts.known.push(...ids)
}

async function inTransaction(parts: ClientParts, life: Life): Promise<void> {
  const { job, options: drawn } = drawWanted(parts, life)
  // One that is there already under its key would not be this transaction's.
  const { key, keyFor, ...options } = drawn
  const call = open(parts, life, job, options)
  const wanted = { job, tasks: [drawTask(parts.plan, life.chance)], options }
  const rollsBack = life.chance.happens(0.1)
  try {
    const ids = await enqueueInTransaction({ connections: parts.connections, life, call, wanted, rollsBack })
    parts.known.push(...ids)
  } catch (error) {
    recordFailure(call, error)
    throw error
  }
}

/** Some pauses are ended by their client, and some end by themselves. */
async function pauseForAWhile({ carillon, chance, host }: Life): Promise<void> {
  const noun = chance.pick(["jobs", "pools", "everything"] as const)
  const forMs = chance.between(10, 1_500)
  const options = chance.happens(0.3) ? { ...BY, for: forMs } : BY
  if (noun === "everything") {
    await carillon.everything.pause(options)
    await host.sleep(forMs)
    if (options === BY) await carillon.everything.resume(BY)
    return
  }
  const name = noun === "jobs" ? chance.pick(["plain", "limited", "timed"]) : "default"
  await carillon[noun].pause(name, options)
  await host.sleep(forMs)
  if (options === BY) await carillon[noun].resume(name, BY)
}
