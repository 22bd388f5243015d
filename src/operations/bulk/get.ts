/** Reads one bulk operation. */
import type { Runtime } from "../../runtime/runtime.ts"
import { findBulk } from "../../store/bulk/find.ts"
import { type BulkOperation, bulkOf } from "./record.ts"

export async function get(
  { database }: Runtime,
  { id }: { readonly id: string },
): Promise<BulkOperation | undefined> {
  const [row] = await database.run(findBulk, { id })
  return row && bulkOf(row)
}
