/** History in pages, newest first. */
import {
  assertOptions,
  type Check,
  date,
  expected,
  integer,
  object,
  oneOf,
  optional,
  satisfies,
} from "../../options/check.ts"
import type { FinalState } from "../../queue/run-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { type PageRow, type Place, readPage } from "../../store/attempts/read-page.ts"
import { parseInstant } from "../../time/instant.ts"
import { type AttemptRecord, attemptRecords } from "./attempt-record.ts"

/** Which finished attempts are asked for. */
export interface HistoryOptions {
  /** Only attempts of this job. */
  readonly job?: string
  /** Only attempts on behalf of this tenant. */
  readonly tenant?: string
  /**
   * Only the attempts that ended a run in this state. No index serves it: what is rare is looked for attempt by
   * attempt, so give a `job`, a `tenant` or bounds with it.
   */
  readonly state?: FinalState
  /** Only attempts that ended at this time or later. */
  readonly from?: Date
  /** Only attempts that ended before this time. */
  readonly to?: Date
  /**
   * How many attempts a page has at the most.
   *
   * @default 100
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `cursor`, given with the same other options. */
  readonly cursor?: string
}

/** A page of finished attempts. */
export interface HistoryPage {
  /** The newest first. */
  readonly attempts: readonly AttemptRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly cursor?: string
}

const LIMIT = 100
const MOST = 1_000

/**
 * Finished attempts, the newest first, a page at a time.
 *
 * Over all pages, every attempt that was committed before the first page was read is told once: none twice, and none
 * left out unless its time in history ends meanwhile. Commits do not come in the order in which attempts end, so of
 * those that are committed later some are told: the ones that ended before the place that the pages have come to.
 */
export async function listHistory(runtime: Runtime, options: HistoryOptions = {}): Promise<HistoryPage> {
  assertOptions("history", options, historyCheck)
  const { job, tenant, state, from, to, limit = LIMIT, cursor } = options
  const rows = await readPage(runtime.database, {
    job: job ?? null,
    tenant: tenant ?? null,
    state: state ?? null,
    fromMs: from?.getTime(),
    toMs: to?.getTime(),
    // One more, to know whether there is another page.
    limit: limit + 1,
    below: cursor === undefined ? undefined : readCursor(cursor),
  })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    attempts: await attemptRecords(runtime.database, shown),
    ...(last && rows.length > limit && { cursor: writeCursor(last) }),
  }
}

const textCheck = satisfies(
  "a non-empty text",
  (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
)

/** The years that four digits can name. */
const boundCheck: Check = (value, path) => {
  const faults = date(value, path)
  if (faults.length > 0) return faults
  const ms = (value as Date).getTime()
  return ms >= 0 && ms < 253_402_300_800_000
    ? []
    : [expected("a Date between the years 1970 and 9999", value, path)]
}

const cursorCheck = satisfies(
  "the cursor of an earlier page",
  (value) => typeof value === "string" && readCursor(value) !== undefined,
)

const historyCheck = object({
  job: optional(textCheck),
  tenant: optional(textCheck),
  state: optional(oneOf("succeeded", "dead", "cancelled", "expired", "discarded")),
  from: optional(boundCheck),
  to: optional(boundCheck),
  limit: optional(integer({ min: 1, max: MOST })),
  cursor: optional(cursorCheck),
})

/** Opaque to callers: what is inside may change from version to version. */
function writeCursor({ place, run, claim }: PageRow): string {
  const json = JSON.stringify([place, run, claim === null ? null : String(claim)])
  return btoa(json).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** The place that a cursor stands for, or `undefined` if it is none of ours. */
function readCursor(cursor: string): Place | undefined {
  const [at, run, claim, ...rest] = partsOf(cursor)
  const isPlace =
    typeof at === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) &&
    parseInstant(at) !== undefined &&
    typeof run === "string" &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(run) &&
    rest.length === 0
  if (!isPlace) return undefined
  if (claim === null) return { at, run, claim }
  if (typeof claim !== "string" || !/^-?\d{1,19}$/.test(claim)) return undefined
  const number = BigInt(claim)
  return BigInt.asIntN(64, number) === number ? { at, run, claim: number } : undefined
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
