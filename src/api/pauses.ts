/** Pausing and resuming jobs and pools: who did, when and why is kept. */
import { CarillonError } from "../errors.ts"
import { poolNameCheck } from "../job/options.ts"
import { assertOptions, type Check, expected, isPlainObject, name, object } from "../options/check.ts"
import { nearest } from "../options/nearest.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { findKnownJob } from "../store/jobs/known.ts"
import { jobNames } from "../store/jobs/names.ts"
import { addPause } from "../store/pauses/add.ts"
import { listPauses as listPauseRows } from "../store/pauses/list.ts"
import { removePause } from "../store/pauses/remove.ts"
import { toDate } from "../time/instant.ts"
import { type ByWhom, byWhomShape } from "./actor.ts"
import type { Opened } from "./application.ts"

/** What to pause: all runs of a job, or all runs in a pool. */
export type PauseTarget = { readonly job: string } | { readonly pool: string }

/** A job or pool that is paused. */
export interface Pause {
  /** Whether it is a job or a pool. */
  readonly kind: "job" | "pool"
  /** The name of the job or the pool. */
  readonly name: string
  /** Since when. */
  readonly pausedAt: Date
  /** Who paused it. */
  readonly actor: string
  /** Why. */
  readonly reason: string
}

/**
 * Pauses a job or a pool: nothing of it is claimed any more. Attempts that are under way go on, new runs are
 * accepted and wait. Returns whether this made a difference; what is paused already stays as it is.
 */
export async function pause(runtime: Runtime, target: PauseTarget, by: ByWhom): Promise<boolean> {
  const params = paramsOf("pause", target, by)
  const added = await runtime.database.run(addPause, params)
  return added.length > 0
}

/** A misspelt name would pause nothing, and nobody would notice. */
export async function assertJobKnown(
  { runtime: { database }, engine }: Opened,
  target: PauseTarget,
  by: ByWhom,
): Promise<void> {
  const { kind, name: job } = paramsOf("pause", target, by)
  if (kind !== "job" || engine.jobs.has(job)) return
  const known = await database.run(findKnownJob, { name: job })
  if (known.length > 0) return
  const names = (await database.run(jobNames, {})).map((row) => row.name)
  const meant = nearest(job, names)
  const hint = meant
    ? `Did you mean ${JSON.stringify(meant)}?`
    : "Check the name, and that a process has declared it."
  throw new CarillonError("JOB_UNKNOWN", `There is no job named ${JSON.stringify(job)}. ${hint}`)
}

/** Ends a pause. Returns whether there was one. */
export async function resume(runtime: Runtime, target: PauseTarget, by: ByWhom): Promise<boolean> {
  const params = paramsOf("resume", target, by)
  const removed = await runtime.database.run(removePause, params)
  return removed.length > 0
}

/** Everything that is paused: jobs, then pools, each by name. */
export async function listPauses(runtime: Runtime): Promise<Pause[]> {
  const rows = await runtime.database.run(listPauseRows, {})
  return rows.map(({ kind, name: of, paused_at, actor, reason }) => ({
    kind: kind === "job" ? "job" : "pool",
    name: of,
    pausedAt: toDate(paused_at),
    actor,
    reason,
  }))
}

const JOB_NAME_LENGTH = 200

const NAME_CHECKS: Readonly<Record<Pause["kind"], Check>> = {
  job: name(JOB_NAME_LENGTH),
  pool: poolNameCheck,
}

/** One of the two, and nothing else. */
const targetCheck: Check = (value, path) => {
  const kinds = isPlainObject(value) ? Object.keys(value).filter(isKind) : []
  const [kind, ...others] = kinds
  if (kind === undefined || others.length > 0) return [expected("either { job } or { pool }", value, path)]
  return object({ [kind]: NAME_CHECKS[kind] })(value, path)
}

const callCheck = object({ target: targetCheck, by: object(byWhomShape) })

function paramsOf(call: string, target: PauseTarget, by: ByWhom) {
  assertOptions(call, { target, by }, callCheck)
  const of = "job" in target ? { kind: "job", name: target.job } : { kind: "pool", name: target.pool }
  return { ...of, actor: by.actor, reason: by.reason }
}

function isKind(key: string): key is Pause["kind"] {
  return key === "job" || key === "pool"
}
