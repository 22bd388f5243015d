/** Adds up the results of parts that were simulated one after the other, if no seed is in two of them. */
import { addTotals, createTotals, type SeedRange, type Totals } from "./statistics.ts"

/** What one file holds. */
export interface Part {
  readonly name: string
  readonly totals: Partial<Totals>
}

/** Throws, with the name of the file, where a sum would claim what no run has shown. */
export function mergeParts(parts: readonly Part[]): Totals {
  const merged = createTotals([])
  for (const part of parts) {
    assertWhole(part)
    addTotals(merged, part.totals)
  }
  const ranges = parts
    .flatMap(({ name, totals }) => (totals.ranges ?? []).map((range) => ({ name, range })))
    .sort((one, other) => one.range[0] - other.range[0])
  for (const [index, { name, range }] of ranges.entries()) {
    const before = ranges[index - 1]
    if (before && before.range[1] >= range[0]) {
      throw new Error(`seed ${range[0]} is in ${before.name} and in ${name}`)
    }
  }
  merged.ranges.push(...joined(ranges.map(({ range }) => range)))
  return merged
}

/** Files of old do not say which seeds they are of, and a search that found something has not tried them all. */
function assertWhole({ name, totals: { seeds, ranges } }: Part): void {
  if (!Array.isArray(ranges) || ranges.length === 0) {
    throw new Error(
      `${name} does not say which seeds it is of; if you know, write "ranges": [[first, last]] into it`,
    )
  }
  const meant = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  if (meant !== seeds) throw new Error(`${name} is of ${meant} seeds, and only ${seeds} were simulated`)
}

/** Neighbours become one. */
function joined(ranges: readonly SeedRange[]): SeedRange[] {
  const found: SeedRange[] = []
  for (const [first, last] of ranges) {
    const before = found.at(-1)
    if (before?.[1] === first - 1) found.splice(-1, 1, [before[0], last])
    else found.push([first, last])
  }
  return found
}
