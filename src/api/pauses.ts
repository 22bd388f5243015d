/** The calls that pause and resume jobs and pools: their checks and their answers. */
import { poolNameCheck } from "../job/options.ts"
import { pause } from "../operations/pauses/pause.ts"
import { resume } from "../operations/pauses/resume.ts"
import { perform } from "../operations/perform.ts"
import { assertOptions, type Check, expected, isPlainObject, name, object } from "../options/check.ts"
import { listPauses as listPauseRows } from "../store/pauses/list.ts"
import { toDate } from "../time/instant.ts"
import { type ByWhom, byOf, byWhomCheck } from "./actor.ts"
import type { Opened } from "./application.ts"

/** The target of a pause: all runs of a job, or all runs in a pool. */
export type PauseTarget = { readonly job: string } | { readonly pool: string }

/** A paused job or pool. */
export interface Pause {
  /** Whether it is a job or a pool. */
  readonly kind: "job" | "pool"
  /** The name of the job or the pool. */
  readonly name: string
  /** When the pause began. */
  readonly pausedAt: Date
  /** The user or program that paused it. */
  readonly actor: string
  /** The reason. Empty if none was given. */
  readonly reason: string
}

export const pauseCalls = {
  /** Returns false if the job or pool was already paused. The pause then keeps its actor and its reason. */
  pause: async (opened: Opened, target: PauseTarget, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("pause", { target, by }, callCheck)
    const { runtime, engine } = opened
    const request = { ...nounOf(target), by: byOf(opened, by), jobs: engine.jobs }
    return perform(engine.tell, pause(runtime, request))
  },
  /** Returns whether there was a pause. */
  resume: async (opened: Opened, target: PauseTarget, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("resume", { target, by }, callCheck)
    const { runtime, engine } = opened
    return perform(engine.tell, resume(runtime, { ...nounOf(target), by: byOf(opened, by) }))
  },
  /** Lists paused jobs, then paused pools, each by name. */
  list: async ({ runtime }: Opened): Promise<Pause[]> => {
    const rows = await runtime.database.run(listPauseRows, {})
    return rows.map(({ kind, name: pausedName, paused_at, actor, reason }) => ({
      kind: kind === "job" ? "job" : "pool",
      name: pausedName,
      pausedAt: toDate(paused_at),
      actor,
      reason,
    }))
  },
}

const JOB_NAME_LENGTH = 200

const NAME_CHECKS: Readonly<Record<Pause["kind"], Check>> = {
  job: name(JOB_NAME_LENGTH),
  pool: poolNameCheck,
}

/** Accepts `{ job }` or `{ pool }` and nothing else. */
const targetCheck: Check = (value, path) => {
  const kinds = isPlainObject(value) ? Object.keys(value).filter(isKind) : []
  const [kind, ...others] = kinds
  if (kind === undefined || others.length > 0) return [expected("either { job } or { pool }", value, path)]
  return object({ [kind]: NAME_CHECKS[kind] })(value, path)
}

const callCheck = object({ target: targetCheck, by: byWhomCheck })

function nounOf(target: PauseTarget): { readonly kind: Pause["kind"]; readonly name: string } {
  return "job" in target ? { kind: "job", name: target.job } : { kind: "pool", name: target.pool }
}

function isKind(key: string): key is Pause["kind"] {
  return key === "job" || key === "pool"
}
