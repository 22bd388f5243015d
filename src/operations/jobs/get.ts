/** Reads one declared job. */
import type { Runtime } from "../../runtime/runtime.ts"
import { type JobRecord, list } from "./list.ts"

/** `undefined` for a job that was never declared. */
export async function get(
  runtime: Runtime,
  { name }: { readonly name: string },
): Promise<JobRecord | undefined> {
  const { items } = await list(runtime, { names: [name], after: "", limit: 1 })
  return items[0]
}
