/** What pages have in common: their options, and cursors, opaque texts that name the place where a page begins. */
import { integer, optional, satisfies } from "../options/check.ts"

/** Which page is asked for. */
export interface PageOptions {
  /**
   * How many items a page has at the most: 1 to 1,000.
   *
   * @default 50
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `nextCursor`. */
  readonly cursor?: string
}

export const PAGE_LIMIT = 50
const MOST = 1_000

export const limitCheck = integer({ min: 1, max: MOST })

/** The checks of `PageOptions`, for a cursor with one part. */
export const pageShape = {
  limit: optional(limitCheck),
  cursor: optional(
    satisfies(
      "the cursor of an earlier page",
      (value) => typeof value === "string" && cursorAfter(value) !== undefined,
    ),
  ),
}

/** The one part of a cursor. Undefined without a cursor. */
export function cursorAfter(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : readCursor(cursor, 1)?.[0]
}

/** What is inside may change from version to version. */
export function writeCursor(parts: readonly string[]): string {
  // UTF-8 first, because base64 takes bytes and names may have any letters.
  const bytes = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(parts)))
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** `undefined` if the text is no cursor with so many parts. */
export function readCursor(cursor: string, count: number): readonly string[] | undefined {
  const parts = partsOf(cursor)
  const isCursor =
    parts.length === count && parts.every((part) => typeof part === "string" && !part.includes("\0"))
  return isCursor ? (parts as string[]) : undefined
}

function partsOf(cursor: string): unknown[] {
  try {
    const bytes = Uint8Array.from(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    )
    const parts: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
