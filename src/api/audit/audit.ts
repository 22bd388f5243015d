/** The calls that read the audit: how they are checked, and what they answer. */
import { type AuditEntry, type AuditPlace, list } from "../../operations/audit/list.ts"
import { assertOptions, object, optional, satisfies } from "../../options/check.ts"
import { parseInstant } from "../../time/instant.ts"
import { wordsCheck } from "../actor.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { instantCheck } from "../instant-check.ts"
import { limitCheck, PAGE_LIMIT, type PageOptions, readCursor, writeCursor } from "../page-cursor.ts"

/** Who changed what, and why. */
export interface Audit {
  /**
   * Changes, the newest first, a page at a time.
   *
   * @example
   * const { items } = await carillon.audit.list({ subject: `run:${run.id}` })
   */
  readonly list: (options?: AuditOptions & CallOptions) => Promise<AuditPage>
}

/** Which changes are asked for. */
export interface AuditOptions extends PageOptions {
  /** Only changes of this subject, as in `job:email.send`, `pool:mail` or `run:` with the id of a run. */
  readonly subject?: string
  /** Only changes by this actor. */
  readonly actor?: string
  /** Only changes of this kind, as in `run.cancel`. */
  readonly action?: string
  /** Only changes at this time or later. */
  readonly from?: Date
  /** Only changes before this time. */
  readonly to?: Date
}

/** A page of the audit. */
export interface AuditPage {
  /** The newest first. */
  readonly items: readonly AuditEntry[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

export const auditCalls = {
  list: async ({ runtime }: Opened, options: AuditOptions = {}): Promise<AuditPage> => {
    assertOptions("audit.list", options, listCheck)
    const { subject = null, actor = null, action = null, from, to, limit = PAGE_LIMIT, cursor } = options
    const { items, next } = await list(runtime, {
      subject,
      actor,
      action,
      fromMs: from?.getTime(),
      toMs: to?.getTime(),
      limit,
      below: cursor === undefined ? undefined : placeOf(cursor),
    })
    return { items, ...(next && { nextCursor: writeCursor([next.at, next.id]) }) }
  },
}

const listCheck = object({
  subject: optional(wordsCheck),
  actor: optional(wordsCheck),
  action: optional(wordsCheck),
  from: optional(instantCheck),
  to: optional(instantCheck),
  limit: optional(limitCheck),
  cursor: optional(
    satisfies(
      "the cursor of an earlier page",
      (value) => typeof value === "string" && placeOf(value) !== undefined,
    ),
  ),
})

function placeOf(cursor: string): AuditPlace | undefined {
  const [at = "", id = ""] = readCursor(cursor, 2) ?? []
  const isPlace = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) && parseInstant(at) !== undefined
  return isPlace && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? { at, id } : undefined
}
