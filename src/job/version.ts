/**
 * Versions of the code that declares jobs: which of two is the later one.
 *
 * Read like semantic versions and lenient beyond them: `1.10` is later than `1.9`, `1.0` is the same as
 * `1.0.0`, a pre-release (`1.0.0-rc.1`) comes before its release, and what follows a `+` says how it was
 * built, not when. Dates work too (`2026-03-01`). Hashes of commits have no order: whoever has only those
 * gives no version.
 */

/** Negative when `a` is older than `b`, positive when it is later, zero when neither. A total order. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parse(a), parse(b)]
  return compareParts(first.release, second.release, "0") || comparePreReleases(first.pre, second.pre)
}

interface Version {
  readonly release: readonly string[]
  /** Undefined for a release. */
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

/** The first part that differs decides. Where one of them has no more parts, it has `missing`. */
function compareParts(a: readonly string[], b: readonly string[], missing: string | undefined): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const order = comparePart(a[index] ?? missing, b[index] ?? missing)
    if (order !== 0) return order
  }
  return 0
}

/**
 * Nothing, then numbers by their value, then texts. A number compared with a text as texts would have no
 * order: 9 before 10, 10 before 1a, and 1a before 9.
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

/** By their digits: a time of the build (`20260301120000123456`) is more than a double can tell apart. */
function compareNumbers(a: string, b: string): number {
  const [first, second] = [a.replace(/^0+(?=\d)/, ""), b.replace(/^0+(?=\d)/, "")]
  return first.length - second.length || compareTexts(first, second)
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
