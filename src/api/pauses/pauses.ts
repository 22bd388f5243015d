/** The calls that pause and resume jobs, pools, tenants and everything: their checks and their answers. */
import { jobNameCheck, poolNameCheck } from "../../job/options.ts"
import { list, type Pause } from "../../operations/pauses/list.ts"
import { pause } from "../../operations/pauses/pause.ts"
import { resume } from "../../operations/pauses/resume.ts"
import { perform } from "../../operations/perform.ts"
import { assertOptions, type Check, duration, object, optional } from "../../options/check.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { type ByWhom, byOf, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { instantCheck } from "../instant-check.ts"
import { tenantNameCheck } from "../runs/enqueue-options.ts"

/** How long a pause lasts, who begins it, and why. */
export interface PauseOptions extends ByWhom {
  /**
   * When the pause ends by itself, by the clock of the database. Not together with `for`.
   *
   * @default it lasts until an operator ends it
   */
  readonly until?: Date
  /**
   * How long the pause lasts, at the end of which it ends by itself. Not together with `until`.
   *
   * @default it lasts until an operator ends it
   */
  readonly for?: Duration
}

/** How a pause ends, who ends it, and why. */
export interface ResumeOptions extends ByWhom {
  /**
   * Over which time the parked runs return, evenly. New runs start as usual.
   *
   * @default at once
   */
  readonly ramp?: Duration
}

/** What is paused. */
export interface Pauses {
  /** Everything that is paused: jobs, pools, tenants, and everything at once. */
  readonly list: (options?: CallOptions) => Promise<Pause[]>
}

/** All runs of all jobs in all pools. */
export interface Everything {
  /**
   * Stops all claims until `resume`, or until the pause ends by itself. Running handlers continue, and schedules make
   * runs, which wait. Returns whether that changed anything: a pause that exists gets the new end.
   */
  readonly pause: (options?: PauseOptions & CallOptions) => Promise<boolean>
  /** Ends that pause. What is paused by its own name stays paused. Returns whether there was one. */
  readonly resume: (options?: ResumeOptions & CallOptions) => Promise<boolean>
}

type Named = "job" | "pool" | "tenant"

const NAME_CHECKS: Readonly<Record<Named, Check>> = {
  job: jobNameCheck,
  pool: poolNameCheck,
  tenant: tenantNameCheck,
}

const resumeCheck = object({ ...byWhomShape, ramp: optional(duration({ min: 1 })) })
const pauseShape = object({
  ...byWhomShape,
  until: optional(instantCheck),
  for: optional(duration({ min: 1 })),
})

const pauseCheck: Check = (value, path) => {
  const faults = pauseShape(value, path)
  if (faults.length > 0) return faults
  const { until, for: lasting } = value as PauseOptions
  return until !== undefined && lasting !== undefined
    ? [{ path: "options.for", message: "expected either `until` or `for`, got both" }]
    : []
}

async function pauseIt(
  opened: Opened,
  kind: Pause["kind"],
  name: string,
  options: PauseOptions,
): Promise<boolean> {
  const { runtime, engine } = opened
  const until = options.until?.getTime() ?? null
  const forMs = parseDuration(options.for) ?? null
  const request = { kind, name, until, forMs, by: byOf(opened, options), jobs: engine.jobs }
  return perform(engine.tell, pause(runtime, request))
}

async function resumeIt(
  opened: Opened,
  kind: Pause["kind"],
  name: string,
  options: ResumeOptions,
): Promise<boolean> {
  const { runtime, engine } = opened
  const rampMs = parseDuration(options.ramp) ?? null
  return perform(engine.tell, resume(runtime, { kind, name, rampMs, by: byOf(opened, options) }))
}

/** The calls of one noun whose things have names. */
function callsOf(kind: Named) {
  const named = { name: NAME_CHECKS[kind] }
  return {
    pause: async (opened: Opened, name: string, options: PauseOptions = {}): Promise<boolean> => {
      assertOptions(`${kind}s.pause`, { name, options }, object({ ...named, options: pauseCheck }))
      return pauseIt(opened, kind, name, options)
    },
    resume: async (opened: Opened, name: string, options: ResumeOptions = {}): Promise<boolean> => {
      assertOptions(`${kind}s.resume`, { name, options }, object({ ...named, options: resumeCheck }))
      return resumeIt(opened, kind, name, options)
    },
  }
}

export const pauseCalls = {
  job: callsOf("job"),
  pool: callsOf("pool"),
  tenant: callsOf("tenant"),
  everything: {
    pause: async (opened: Opened, options: PauseOptions = {}): Promise<boolean> => {
      assertOptions("everything.pause", { options }, object({ options: pauseCheck }))
      return pauseIt(opened, "everything", "", options)
    },
    resume: async (opened: Opened, options: ResumeOptions = {}): Promise<boolean> => {
      assertOptions("everything.resume", { options }, object({ options: resumeCheck }))
      return resumeIt(opened, "everything", "", options)
    },
  },
  list: ({ runtime }: Opened): Promise<Pause[]> => list(runtime),
}
