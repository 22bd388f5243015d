/**
 * The settings of jobs that this process does not declare, as a process that does has stored them.
 *
 * They are read again after a second. Until then calls share one answer, so that they also share statements
 * (`enqueue-together.ts`).
 */
import { type EnqueueSettings, storedEnqueueSettings } from "../../job/enqueue-settings.ts"
import { readSettings } from "../../job/reconcile.ts"
import type { Host } from "../../runtime/host.ts"
import type { Runner } from "../../store/database.ts"
import { findJob } from "../../store/jobs/find.ts"

export interface StoredJobs {
  /** Undefined if no process has ever declared such a job. */
  readonly find: (name: string, on: Runner) => Promise<EnqueueSettings | undefined>
}

const KNOWN_MS = 1_000

export function createStoredJobs({ monotonicMs }: Pick<Host, "monotonicMs">): StoredJobs {
  const known = new Map<string, { readonly job: EnqueueSettings; readonly untilMs: number }>()
  return {
    find: async (name, on) => {
      const there = known.get(name)
      if (there && monotonicMs() < there.untilMs) return there.job
      const untilMs = monotonicMs() + KNOWN_MS
      const [row] = await on.run(findJob, { name })
      if (row === undefined) return undefined
      const job = storedEnqueueSettings(name, readSettings(row.settings))
      known.set(name, { job, untilMs })
      return job
    },
  }
}
