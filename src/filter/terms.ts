/** What terms say together: the values that a field may have, and the window that a time may be in. */
import type { Comparison, FieldName } from "./fields.ts"
import type { Term } from "./filter.ts"

/** From an instant, and before another, in whole milliseconds. */
export interface Window {
  readonly fromMs?: number
  readonly beforeMs?: number
}

export const EVER: Window = {}

/** The values that a field may have, if its terms list them. Empty if they list none in common. */
export function exactOf(terms: readonly Term[], field: FieldName): readonly string[] | undefined {
  const lists = terms.filter((term) => term.field === field && isExact(term)).map((term) => textsOf(term))
  const [first, ...others] = lists
  return first?.filter((text) => others.every((other) => other.includes(text)))
}

export function isExact({ not, test }: Term): boolean {
  return !not && test.is === "words" && test.any.every(({ isPrefix }) => !isPrefix)
}

/** The whole values of a term, or the beginnings that it names. */
export function textsOf({ test }: Term, isPrefix = false): string[] {
  if (test.is !== "words") return []
  return test.any.filter((word) => word.isPrefix === isPrefix).map(({ text }) => text)
}

/** Times are whole milliseconds: after one is from the next one on. */
export function boundOf(by: Comparison, ms: number, not: boolean): Window {
  const isLower = by.startsWith(">") !== not
  const edge = ms + (by === ">" || by === "<=" ? 1 : 0)
  return isLower ? { fromMs: edge } : { beforeMs: edge }
}

export function intersection(one: Window, other: Window): Window {
  const from = [one.fromMs, other.fromMs].filter((ms) => ms !== undefined)
  const before = [one.beforeMs, other.beforeMs].filter((ms) => ms !== undefined)
  return {
    ...(from.length > 0 && { fromMs: Math.max(...from) }),
    ...(before.length > 0 && { beforeMs: Math.min(...before) }),
  }
}

export function isClosed({ fromMs, beforeMs }: Window): boolean {
  return fromMs !== undefined && beforeMs !== undefined && fromMs >= beforeMs
}
