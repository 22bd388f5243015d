/** Writes down how far handlers have come: at most once a second per run, the last word always. */
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
  /** The latest word of each run that has one to write. */
  const latest = new Map<ClaimedRun, string>()
  const resting = new Set<ClaimedRun>()

  async function write(run: ClaimedRun): Promise<void> {
    const progress = latest.get(run)
    if (progress === undefined) return
    latest.delete(run)
    resting.add(run)
    const { id, lease, claim } = run
    // It is a courtesy: what cannot be written now is written by the next word, or not at all.
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
