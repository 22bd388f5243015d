/** "Did you mean": the known word that is most like an unknown one. */

/** The nearest of `words` if it is near enough to be a typing error of it. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3))
  const ranked = words
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.candidate
}

/** How many letters must be inserted, dropped, replaced or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
