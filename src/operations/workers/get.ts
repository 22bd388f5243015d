/** Reads one live worker. */
import type { Runtime } from "../../runtime/runtime.ts"
import { list, type WorkerRecord } from "./list.ts"

/** `undefined` for a worker that has stopped, died, or lost this lease. */
export async function get(
  runtime: Runtime,
  { id }: { readonly id: string },
): Promise<WorkerRecord | undefined> {
  const { items } = await list(runtime, { id, after: null, limit: 1 })
  return items[0]
}
