/** Lists who changed what, newest first, a page at a time. */
import type { Runtime } from "../../runtime/runtime.ts"
import { listAudit } from "../../store/audit/list.ts"
import { listAuditByAction } from "../../store/audit/list-by-action.ts"
import { listAuditByActor } from "../../store/audit/list-by-actor.ts"
import { listAuditBySubject } from "../../store/audit/list-by-subject.ts"
import { formatInstant, type InstantMs, toDate } from "../../time/instant.ts"

/** One change. */
export interface AuditEntry {
  /** The id of the entry. */
  readonly id: string
  /** When it happened. */
  readonly at: Date
  /** The user or the program that asked for it. */
  readonly actor: string
  /** What was done, as in `run.cancel`. */
  readonly action: string
  /** What it was done to, as in `run:` with the id of a run. */
  readonly subject: string
  /** Why; empty if no reason was given. */
  readonly reason: string
  /** What it was before. */
  readonly before?: unknown
  /** What it was afterwards. */
  readonly after?: unknown
}

/** Where a page begins: below this entry. The time has microseconds. */
export interface AuditPlace {
  readonly at: string
  readonly id: string
}

export interface AuditRequest {
  readonly subject: string | null
  readonly actor: string | null
  readonly action: string | null
  readonly fromMs: InstantMs | undefined
  readonly toMs: InstantMs | undefined
  readonly below: AuditPlace | undefined
  readonly limit: number
}

export interface AuditAnswer {
  readonly items: readonly AuditEntry[]
  /** Where the next page begins. Undefined if this page is the last. */
  readonly next: AuditPlace | undefined
}

const HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/**
 * No entry is on two pages, and every entry that was committed before the first page is on one, unless it has expired
 * meanwhile.
 */
export async function list(runtime: Runtime, request: AuditRequest): Promise<AuditAnswer> {
  const { limit } = request
  // One more, to know whether there is another page.
  const rows = await read(runtime, { ...request, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(({ at, place: _, before, after, ...row }) => ({
      ...row,
      at: toDate(at),
      ...(before !== null && { before: JSON.parse(before) as unknown }),
      ...(after !== null && { after: JSON.parse(after) as unknown }),
    })),
    next: last && rows.length > limit ? { at: last.place, id: last.id } : undefined,
  }
}

/** A subject has few entries, an actor more, an action the most: the first that is given chooses the index. */
function read({ database }: Runtime, { subject, actor, action, ...request }: AuditRequest) {
  const { fromMs, toMs, below, limit } = request
  const page = {
    at: below?.at ?? "infinity",
    id: below?.id ?? HIGHEST_ID,
    from: fromMs === undefined ? "-infinity" : formatInstant(fromMs),
    to: toMs === undefined ? "infinity" : formatInstant(toMs),
    limit,
  }
  if (subject !== null) return database.run(listAuditBySubject, { ...page, subject, actor, action })
  if (actor !== null) return database.run(listAuditByActor, { ...page, actor, action })
  if (action !== null) return database.run(listAuditByAction, { ...page, action })
  return database.run(listAudit, page)
}
