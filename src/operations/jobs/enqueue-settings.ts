/** Finds the settings with which runs of a job are enqueued by its name: those of the code here, or the stored ones. */
import type { Engine } from "../../engine/engine.ts"
import type { AnyJob } from "../../job/define.ts"
import type { EnqueueSettings } from "../../job/enqueue-settings.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Runner } from "../../store/database.ts"
import { FOR_ENQUEUES } from "../../store/session.ts"
import { unknownJob } from "./unknown.ts"

export interface EnqueueSettingsParts {
  readonly runtime: Runtime
  readonly engine: Pick<Engine, "jobs" | "storedJobs" | "borrow">
}

export interface EnqueueSettingsRequest {
  readonly name: string
  /** The caller's transaction. It may hold the only connection, so the read goes through it. */
  readonly tx?: object | undefined
}

export async function enqueueSettings(
  { runtime, engine }: EnqueueSettingsParts,
  { name, tx }: EnqueueSettingsRequest,
): Promise<AnyJob | EnqueueSettings> {
  const declared = engine.jobs.get(name)
  if (declared) return declared
  const find = async (on: Runner) => {
    const stored = await engine.storedJobs.find(name, on)
    if (stored === undefined) throw await unknownJob(on, name)
    return stored
  }
  return tx ? engine.borrow(tx, FOR_ENQUEUES, find) : find(runtime.database)
}
