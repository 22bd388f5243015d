/** Ends overrides of a job: a call clears all of them, and a process ends those whose end has come. */
import { readSettings } from "../../job/reconcile.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { lockJobs } from "../../store/jobs/lock.ts"
import { declareLimit } from "../../store/limits/declare.ts"
import { removeOverrides } from "../../store/overrides/remove.ts"
import type { By } from "../by.ts"
import { jobLimit } from "../enqueue/new-run.ts"

/** Returns the settings whose overrides this call has ended. */
export function endOverrides(
  { database }: Pick<Runtime, "database">,
  { job, onlyOverdue, by }: { readonly job: string; readonly onlyOverdue: boolean; readonly by: By },
): Promise<readonly string[]> {
  return database.transaction(async (tx) => {
    const [row] = await tx.run(lockJobs, { names: [job] })
    const ended = await tx.run(removeOverrides, { job, onlyOverdue, ...by })
    const settings = ended.map(({ setting }) => setting)
    if (settings.includes("concurrency") && row) await setCap(tx, job, row.settings)
    return settings
  })
}

/** Sets the cap of a job to its override, or without one to what its code declares. The job must be locked. */
export async function setCap(tx: Transaction, job: string, settings: string): Promise<void> {
  const { concurrency } = readSettings(settings)
  if (typeof concurrency === "number") {
    await tx.run(declareLimit, { name: jobLimit(job), job, cap: concurrency })
  }
}
