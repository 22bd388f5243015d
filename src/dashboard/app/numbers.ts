/** Numbers as text. */

const GROUPED = new Intl.NumberFormat("en-US")

/** `10,000` */
export function countText(count: number): string {
  return GROUPED.format(count)
}

/** `10,000+` where counting stopped. */
export function cappedText({ count, capped }: { readonly count: number; readonly capped: boolean }): string {
  return capped ? `${countText(count)}+` : countText(count)
}

/** `1 run`, `2 runs` */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

/** `212 MiB` */
export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024
    unit += 1
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** `1.8 %` */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return "–"
  const share = (part / whole) * 100
  return share === 0 || share >= 10 ? `${Math.round(share)} %` : `${share.toFixed(1)} %`
}

/** Below which time the given share of a histogram lies: an estimate within one bucket. */
export function percentileOf(
  boundsMs: readonly number[],
  counts: readonly number[],
  share: number,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = total * share
  let seen = 0
  for (const [index, count] of counts.entries()) {
    if (seen + count >= rank && count > 0) {
      const below = index === 0 ? 0 : (boundsMs[index - 1] ?? 0)
      const above = boundsMs[index] ?? below * 2
      return below + (above - below) * ((rank - seen) / count)
    }
    seen += count
  }
  return boundsMs.at(-1)
}
