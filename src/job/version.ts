/**
 * Compares two versions of the code that declares jobs.
 *
 * The rules are those of semantic versions, and more lenient: `1.10` is later than `1.9`, `1.0` equals `1.0.0`, a
 * pre-release (`1.0.0-rc.1`) comes before its release, and build metadata after `+` does not count. Dates work too
 * (`2026-03-01`). Commit hashes have no order, so an application that has only hashes should set no version.
 */

/** Negative if `a` is older than `b`, positive if it is later, zero if they are equal. A total order. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parse(a), parse(b)]
  return compareParts(first.release, second.release, "0") || comparePreReleases(first.pre, second.pre)
}

interface Version {
  readonly release: readonly string[]
  /** `undefined` for a release. */
  readonly pre: readonly string[] | undefined
}

function parse(text: string): Version {
  const [core = ""] = text
    .trim()
    .replace(/^v(?=\d)/i, "")
    .split("+")
  const dash = core.indexOf("-")
  if (dash < 0) return { release: core.split("."), pre: undefined }
  return { release: core.slice(0, dash).split("."), pre: core.slice(dash + 1).split(/[.-]/) }
}

function comparePreReleases(a: Version["pre"], b: Version["pre"]): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return compareParts(a, b, undefined)
}

/** The first different part decides. `missing` stands in for the parts of the shorter version. */
function compareParts(a: readonly string[], b: readonly string[], missing: string | undefined): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const order = comparePart(a[index] ?? missing, b[index] ?? missing)
    if (order !== 0) return order
  }
  return 0
}

/**
 * Missing parts sort first, then numbers by value, then texts. Comparing a number with a text as texts would be
 * inconsistent: 9 before 10, 10 before 1a, and 1a before 9.
 */
function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [aIsNumber, bIsNumber] = [isNumber(a), isNumber(b)]
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  return aIsNumber ? compareNumbers(a, b) : compareTexts(a, b)
}

function isNumber(part: string): boolean {
  return /^\d+$/.test(part)
}

/** Compares digits, because a build time (`20260301120000123456`) exceeds the precision of a double. */
function compareNumbers(a: string, b: string): number {
  const [first, second] = [a.replace(/^0+(?=\d)/, ""), b.replace(/^0+(?=\d)/, "")]
  return first.length - second.length || compareTexts(first, second)
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
