/** Reads history in pages, newest attempts first. */
import { assertOptions, integer, object, oneOf, optional, satisfies } from "../../options/check.ts"
import type { FinalState } from "../../queue/run-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { type PageRow, type Place, readPage } from "../../store/attempts/read-page.ts"
import { parseInstant } from "../../time/instant.ts"
import { instantCheck } from "../instant-check.ts"
import { type AttemptRecord, attemptRecords } from "./attempt-record.ts"

/** The options of `history`: which finished attempts it returns. */
export interface HistoryOptions {
  /**
   * Only attempts of this job.
   *
   * @default all jobs
   */
  readonly job?: string
  /**
   * Only attempts of this tenant's runs.
   *
   * @default all tenants
   */
  readonly tenant?: string
  /**
   * Only attempts that ended a run in this state. A run that was replayed is not dead any more. No index serves this
   * filter, so a rare state reads many attempts. Give a `job`, a `tenant` or bounds with it.
   *
   * @default all attempts
   */
  readonly state?: FinalState
  /**
   * Only attempts that ended at this time or later.
   *
   * @default no bound
   */
  readonly from?: Date
  /**
   * Only attempts that ended before this time.
   *
   * @default no bound
   */
  readonly to?: Date
  /**
   * The most attempts in a page, up to 1,000.
   *
   * @default 100
   */
  readonly limit?: number
  /**
   * The `cursor` of the page before. Give it with the same other options.
   *
   * @default the first page
   */
  readonly cursor?: string
}

/** A page of finished attempts. */
export interface HistoryPage {
  /** The attempts, newest first. */
  readonly attempts: readonly AttemptRecord[]
  /** The cursor of the next page. Absent on the last page. */
  readonly cursor?: string
}

const LIMIT = 100
const MOST = 1_000

/**
 * Reads a page of finished attempts, newest first.
 *
 * The pages together list every attempt that was committed before the first page, exactly once, unless history drops it
 * in between. Attempts do not commit in the order in which they end. So the pages may also list an attempt that was
 * committed later, if it ended before the place that the pages have reached.
 */
export async function listHistory(runtime: Runtime, options: HistoryOptions = {}): Promise<HistoryPage> {
  assertOptions("history", options, historyCheck)
  const { job, tenant, state, from, to, limit = LIMIT, cursor } = options
  const query = {
    job: job ?? null,
    tenant: tenant ?? null,
    state: state ?? null,
    fromMs: from?.getTime(),
    toMs: to?.getTime(),
  }
  const attempts: AttemptRecord[] = []
  let below = cursor === undefined ? undefined : readCursor(cursor)
  for (;;) {
    const wanted = limit - attempts.length
    // One more row shows whether there is another page.
    const rows = await readPage(runtime.database, { ...query, limit: wanted + 1, below })
    const shown = rows.slice(0, wanted)
    const records = await attemptRecords(runtime.database, shown)
    // Deaths of runs that were replayed since are no ends any more, so the page may have room for others.
    attempts.push(...records.filter(({ runState }) => state === undefined || runState === state))
    const last = shown.at(-1)
    if (!last || rows.length <= wanted) return { attempts }
    if (attempts.length === limit) return { attempts, cursor: writeCursor(last) }
    below = placeOf(last)
  }
}

const textCheck = satisfies(
  "a non-empty text",
  (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
)

const cursorCheck = satisfies(
  "the cursor of an earlier page",
  (value) => typeof value === "string" && readCursor(value) !== undefined,
)

const historyCheck = object({
  job: optional(textCheck),
  tenant: optional(textCheck),
  state: optional(oneOf("succeeded", "dead", "cancelled", "expired", "discarded")),
  from: optional(instantCheck),
  to: optional(instantCheck),
  limit: optional(integer({ min: 1, max: MOST })),
  cursor: optional(cursorCheck),
})

function placeOf({ place: at, run, claim }: PageRow): Place {
  return { at, run, claim }
}

/** Callers must not read a cursor: its content may change between versions. */
function writeCursor(row: PageRow): string {
  const { at, run, claim } = placeOf(row)
  const json = JSON.stringify([at, run, claim === null ? null : String(claim)])
  return btoa(json).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** The place that a cursor stands for. `undefined` for a text that is not a cursor. */
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
