/** What an enqueue writes of a job's settings: from the code, or as a process with the code stored them. */
import { type ResolvedJob, resolveJob } from "./options.ts"
import type { StoredSettings } from "./reconcile.ts"

/** The worker takes its other settings from its own code. */
export type EnqueueSettings = Pick<
  ResolvedJob,
  "name" | "pool" | "priority" | "history" | "onLost" | "concurrency"
>

/** An older version may not have stored every setting. Then the default counts. */
export function storedEnqueueSettings(name: string, stored: StoredSettings): EnqueueSettings {
  const { pool, priority, history, onLost, concurrency } = { ...resolveJob({ name }), ...stored }
  return { name, pool, priority, history, onLost, concurrency }
}
