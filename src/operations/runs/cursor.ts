/**
 * The cursor of a page of runs: where the next page begins, bound to the filter and to the moment it was first asked.
 */
import type { InstantMs } from "../../time/instant.ts"

export interface RunCursor {
  /** The next page begins below this id. */
  readonly below: string
  /** Relative times are counted from here on every page, so that no page moves what belongs to the next. */
  readonly nowMs: InstantMs
}

/** Opaque to callers: what is inside may change from version to version. `filter` is its text. */
export function writeCursor({ below, nowMs }: RunCursor, filter: string): string {
  const json = JSON.stringify([below, nowMs, fold(filter)])
  return btoa(json).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** `undefined` if it is no cursor, or one of another filter. */
export function readCursor(cursor: string, filter: string): RunCursor | undefined {
  const [below, nowMs, mark, ...rest] = partsOf(cursor)
  const isCursor =
    typeof below === "string" &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(below) &&
    typeof nowMs === "number" &&
    Number.isSafeInteger(nowMs) &&
    Math.abs(nowMs) < 253_402_300_800_000 &&
    mark === fold(filter) &&
    rest.length === 0
  return isCursor ? { below, nowMs } : undefined
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** A text as a number of 53 bits: it tells filters apart that are confused by mistake, not by intent. */
function fold(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return 4_294_967_296 * (0x1fffff & low) + (high >>> 0)
}
