/** The calls that pause and resume jobs and pools: how they are checked, and what they answer. */

import { poolNameCheck } from "../job/options.ts"
import { pause } from "../operations/pauses/pause.ts"
import { resume } from "../operations/pauses/resume.ts"
import { perform } from "../operations/perform.ts"
import { assertOptions, type Check, expected, isPlainObject, name, object } from "../options/check.ts"
import { listPauses as listPauseRows } from "../store/pauses/list.ts"
import { toDate } from "../time/instant.ts"
import { type ByWhom, byOf, byWhomCheck } from "./actor.ts"
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
  /** Why; empty if no reason was given. */
  readonly reason: string
}

export const pauseCalls = {
  /** Whether this made a difference. A job or pool that is paused already stays as it is. */
  pause: async (opened: Opened, target: PauseTarget, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("pause", { target, by }, callCheck)
    const { runtime, engine } = opened
    const request = { ...nounOf(target), by: byOf(opened, by), jobs: engine.jobs }
    return perform(engine.tell, pause(runtime, request))
  },
  /** Whether there was a pause to end. */
  resume: async (opened: Opened, target: PauseTarget, by: ByWhom = {}): Promise<boolean> => {
    assertOptions("resume", { target, by }, callCheck)
    const { runtime, engine } = opened
    return perform(engine.tell, resume(runtime, { ...nounOf(target), by: byOf(opened, by) }))
  },
  /** Everything that is paused: jobs, then pools, each by name. */
  list: async ({ runtime }: Opened): Promise<Pause[]> => {
    const rows = await runtime.database.run(listPauseRows, {})
    return rows.map(({ kind, name: of, paused_at, actor, reason }) => ({
      kind: kind === "job" ? "job" : "pool",
      name: of,
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

/** One of the two, and nothing else. */
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
