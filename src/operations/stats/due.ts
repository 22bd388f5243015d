/** Reads which jobs have runs that are due. */
import { MOST_COUNTED } from "../../engine/process/stats.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { dueByJob } from "../../store/runs/due-by-job.ts"
import { toDate } from "../../time/instant.ts"

/** What is due, by job. */
export interface StatsDue {
  /** The jobs that have ready runs; the one with the most first. */
  readonly items: readonly DueOfJob[]
  /** Whether counting ended at 10,000 runs, so that there may be more. */
  readonly capped: boolean
}

/** The ready runs of one job. */
export interface DueOfJob {
  /** The name of the job. */
  readonly job: string
  /** How many of its runs are ready. */
  readonly due: number
  /** When the longest overdue of them was due. */
  readonly oldestDueAt: Date
}

export async function due({ database }: Runtime): Promise<StatsDue> {
  const rows = await database.run(dueByJob, { most: MOST_COUNTED })
  const items = rows.map(({ job, due: count, oldest_due: oldest }) => ({
    job,
    due: count,
    oldestDueAt: toDate(oldest),
  }))
  return { items, capped: rows.some(({ capped }) => capped) }
}
