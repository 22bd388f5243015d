/** Writes the progress that handlers report: at most once a second per run, and always the latest value. */
import { DEFAULTS } from "../../defaults.ts"
import { encodePayload } from "../../job/payload.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { recordProgress } from "../../store/runs/record-progress.ts"
import type { ClaimedRun } from "../queue/claimed-run.ts"

export interface ProgressWriter {
  readonly report: (run: ClaimedRun, value: unknown) => void
}

const EVERY_MS = 1_000

export function createProgressWriter(runtime: Runtime): ProgressWriter {
  /** The latest value of each run that is not written yet. */
  const latest = new Map<ClaimedRun, string>()
  const resting = new Set<ClaimedRun>()

  async function write(run: ClaimedRun): Promise<void> {
    const progress = latest.get(run)
    if (progress === undefined) return
    latest.delete(run)
    resting.add(run)
    const { id, lease, claim } = run
    // Progress is a courtesy. After a failure the next report is written, or none.
    await runtime.database.run(recordProgress, { id, lease, claim, progress }).catch(() => {})
    runtime.after(EVERY_MS, () => {
      resting.delete(run)
      void write(run)
    })
  }

  return {
    report: (run, value) => {
      latest.set(run, encodePayload(value, "progress", DEFAULTS.resultBytes))
      if (!resting.has(run)) void write(run)
    },
  }
}
