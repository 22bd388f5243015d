/** Instants as epoch milliseconds, converted to `Date` for the public API. Nothing here reads a clock. */

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type InstantMs = number

/** The `Date` of an instant. */
export function toDate(ms: InstantMs): Date {
  return new Date(ms)
}

/** The instant of an ISO 8601 text with an offset. `undefined` if the offset is missing or the text is invalid. */
export function parseInstant(text: string): InstantMs | undefined {
  if (!/^\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(text))
    return undefined
  const ms = Date.parse(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"))
  return Number.isNaN(ms) ? undefined : ms
}

/** ISO 8601 in UTC with milliseconds. */
export function formatInstant(ms: InstantMs): string {
  return toDate(ms).toISOString()
}

/** Whether `value` is a valid `Date`. */
export function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime())
}
