/** The calls for tenants: how they are checked, and what they answer. */
import { list, type TenantRecord } from "../../operations/tenants/list.ts"
import { assertOptions, object } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { cursorAfter, PAGE_LIMIT, type PageOptions, pageShape, writeCursor } from "../page-cursor.ts"
import type { PauseOptions, ResumeOptions } from "../pauses/pauses.ts"

/** On whose behalf runs are. */
export interface Tenants {
  /** The paused tenants, by name, a page at a time. */
  readonly list: (options?: TenantListOptions & CallOptions) => Promise<TenantPage>
  /**
   * Stops claims of the runs of a tenant until `resume`, or until the pause ends by itself. Running handlers continue.
   * Returns whether that changed anything: a pause that exists gets the new end.
   */
  readonly pause: (name: string, options?: PauseOptions & CallOptions) => Promise<boolean>
  /** Ends the pause of a tenant. Returns whether there was one. */
  readonly resume: (name: string, options?: ResumeOptions & CallOptions) => Promise<boolean>
}

/** Which page of tenants is asked for. */
export interface TenantListOptions extends PageOptions {}

/** A page of tenants. */
export interface TenantPage {
  /** By name. */
  readonly items: readonly TenantRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

export const tenantCalls = {
  list: async ({ runtime }: Opened, options: TenantListOptions = {}): Promise<TenantPage> => {
    assertOptions("tenants.list", options, object(pageShape))
    const { limit = PAGE_LIMIT, cursor } = options
    const { items, next } = await list(runtime, { after: cursorAfter(cursor) ?? "", limit })
    return { items, ...(next !== undefined && { nextCursor: writeCursor([next]) }) }
  },
}
