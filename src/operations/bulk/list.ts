/** Lists bulk operations, newest first, a page at a time. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listBulk } from "../../store/bulk/list.ts"
import { type BulkOperation, type BulkState, bulkOf } from "./record.ts"

export interface ListRequest {
  /** `undefined` for all. */
  readonly state: BulkState | undefined
  readonly limit: number
  /** The last id of the page before. */
  readonly below: string | undefined
}

export interface ListAnswer {
  readonly items: readonly BulkOperation[]
  /** Where the next page begins; `undefined` if this one is the last. */
  readonly next: string | undefined
}

const TOP = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export async function list({ database }: Runtime, request: ListRequest): Promise<ListAnswer> {
  const { state, limit, below } = request
  const rows = await database.run(listBulk, { state: state ?? null, below: below ?? TOP, limit: limit + 1 })
  const items = rows.slice(0, limit).map(bulkOf)
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined }
}
