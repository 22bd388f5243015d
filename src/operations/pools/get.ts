/** Reads one pool. */
import type { Runtime } from "../../runtime/runtime.ts"
import { list, type PoolRecord } from "./list.ts"

/** `undefined` for a pool without runs, workers, jobs and pause. */
export async function get(
  runtime: Runtime,
  { name }: { readonly name: string },
): Promise<PoolRecord | undefined> {
  const [pool] = await list(runtime, { name })
  return pool
}
