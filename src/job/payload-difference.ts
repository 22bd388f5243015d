/** What differs between two JSON values, place by place, for the audit. */

export interface PayloadDifference {
  /** The values that were there, by their places as JSON pointers. A place that is new is absent. */
  readonly before: Readonly<Record<string, unknown>>
  /** The values that are there now. A place that is gone is absent. */
  readonly after: Readonly<Record<string, unknown>>
}

export function differenceOf(before: unknown, after: unknown): PayloadDifference {
  const difference: { before: [string, unknown][]; after: [string, unknown][] } = { before: [], after: [] }
  compare(before, after, "")
  // `fromEntries` defines `__proto__` as an ordinary key.
  return { before: Object.fromEntries(difference.before), after: Object.fromEntries(difference.after) }

  function compare(one: unknown, other: unknown, place: string): void {
    if (Object.is(one, other)) return
    if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other)) {
      difference.before.push([place, one])
      difference.after.push([place, other])
      return
    }
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const below = `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
      const [had, has] = [Object.hasOwn(one, key), Object.hasOwn(other, key)]
      if (had && has) compare(one[key], other[key], below)
      else if (had) difference.before.push([below, one[key]])
      else difference.after.push([below, other[key]])
    }
  }
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
}
