/** Jobs whose handlers are in other programs, with the settings that a process has stored. */
import type { AnyJob } from "../../job/define.ts"
import { readSettings } from "../../job/reconcile.ts"
import { remoteJob } from "../../job/remote.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { listJobs } from "../../store/jobs/list.ts"

/** Those of these names that a process has declared. */
export async function jobsOf({ database }: Runtime, names: readonly string[]): Promise<Map<string, AnyJob>> {
  const distinct = [...new Set(names)]
  if (distinct.length === 0) return new Map()
  const rows = await database.run(listJobs, { names: distinct, after: "", limit: distinct.length })
  return new Map(rows.map(({ name, settings }) => [name, remoteJob(name, readSettings(settings))]))
}
