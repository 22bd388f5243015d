/**
 * The settings of jobs that operators have overridden, as this process applies them: to attempts that start, and to
 * failures that it judges.
 *
 * It reads them before it claims, and then once a second. A wake-up makes that sooner. It ends overrides whose end has
 * come, by the clock of the database.
 */

import type { RetryPolicy } from "../../job/options.ts"
import { type LiveOverride, overriddenRetry, readOverride } from "../../job/override.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { listOverrides } from "../../store/overrides/list.ts"
import type { Statement } from "../../store/statement.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"
import { endOverrides } from "./end-overrides.ts"

export interface AppliedOverrides {
  /** The run with the timeout that its attempt has if it starts now. */
  readonly starting: (run: ClaimedRun) => ClaimedRun
  /** The policy for a failure of the run now. */
  readonly retryOf: (run: ClaimedRun) => RetryPolicy
}

export interface Overrides extends Loop, AppliedOverrides {}

export interface OverridesParts {
  readonly runtime: Runtime
  readonly events: Events
  /** This process has ended overrides, which others do not know. */
  readonly onEnded: () => void
}

const EVERY_MS = 1_000
const OVER = { actor: "carillon", reason: "the override was over" }

export function createOverrides({ runtime, events, onEnded }: OverridesParts): Overrides {
  let live: ReadonlyMap<string, LiveOverride> = new Map()

  async function end(job: string): Promise<void> {
    const settings = await endOverrides(runtime, { job, onlyOverdue: true, by: OVER })
    if (settings.length === 0) return
    events.emit({ type: "job.override-ended", job, settings, because: "over", ...OVER })
    onEnded()
  }

  return {
    name: "overrides",
    bell: createBell(runtime),
    tick: async () => {
      const rows = await runtime.database.run(listOverrides, { names: null })
      const overdue = new Set<string>()
      const found = new Map<string, LiveOverride>()
      let nextEndMs = EVERY_MS
      for (const row of rows) {
        if (isOverdue(row)) overdue.add(row.job)
        else {
          add(found, row)
          nextEndMs = Math.min(nextEndMs, row.left_ms ?? nextEndMs)
        }
      }
      live = found
      for (const job of overdue) await end(job)
      return nextEndMs
    },
    ...applied(() => live),
  }
}

/** `live` are the overrides of each job at the moment of the call. */
function applied(live: () => ReadonlyMap<string, LiveOverride>): AppliedOverrides {
  return {
    starting: (run) => {
      const timeoutMs = live().get(run.job.name)?.timeoutMs
      return timeoutMs === undefined ? run : { ...run, timeoutMs }
    },
    retryOf: (run) => {
      const retry = live().get(run.job.name)?.retry
      return retry === undefined ? run.retry : overriddenRetry(run.retry, retry)
    },
  }
}

/** The overrides of these jobs as they are now, for calls of a process that may have no loops. */
export async function readOverrides(
  { database }: Pick<Runtime, "database">,
  jobs: readonly string[],
): Promise<AppliedOverrides> {
  const rows = jobs.length === 0 ? [] : await database.run(listOverrides, { names: [...new Set(jobs)] })
  const live = new Map<string, LiveOverride>()
  for (const row of rows.filter((each) => !isOverdue(each))) add(live, row)
  return applied(() => live)
}

type Row = typeof listOverrides extends Statement<infer _, infer Found> ? Found : never

function isOverdue({ left_ms: leftMs }: Row): boolean {
  return leftMs !== null && leftMs <= 0
}

function add(live: Map<string, LiveOverride>, { job, setting, value }: Row): void {
  live.set(job, { ...live.get(job), ...readOverride(setting, JSON.parse(value)) })
}
