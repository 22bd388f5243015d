/** Lists paused tenants by name, a page at a time. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listPausedTenants } from "../../store/pauses/list-tenants.ts"
import { type PauseNote, pauseOf } from "../pools/list.ts"

/** A tenant. */
export interface TenantRecord {
  /** The name of the tenant. */
  readonly name: string
  /** There if the tenant is paused. */
  readonly paused?: PauseNote
}

export interface TenantListRequest {
  /** The page begins after this name. */
  readonly after: string
  readonly limit: number
}

export interface TenantListAnswer {
  readonly items: readonly TenantRecord[]
  /** The next page begins after this name. Undefined if this page is the last. */
  readonly next: string | undefined
}

export async function list({ database }: Runtime, request: TenantListRequest): Promise<TenantListAnswer> {
  const { limit } = request
  // One more, to know whether there is another page.
  const rows = await database.run(listPausedTenants, { ...request, limit: limit + 1 })
  const items = rows.slice(0, limit).map(({ name, ...pause }) => ({ name, ...pauseOf(pause) }))
  return { items, next: rows.length > limit ? items.at(-1)?.name : undefined }
}
