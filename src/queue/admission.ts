/** Who may go on when there is room under limits: a pure decision, in the order of the line. */

export interface InLine {
  readonly run: string
  /** Every key that it needs room under. */
  readonly keys: readonly string[]
}

/** Whether it is one of those by which the runs of a schedule follow on each other, in the order of their occurrences. */
export function isOverlap(limit: string): boolean {
  return limit.startsWith("overlap")
}

/**
 * The runs that have room under all their keys, taken in order. One that has none keeps its place and does not hold up
 * those behind it that need other keys.
 */
export function admit(line: readonly InLine[], room: ReadonlyMap<string, number>): string[] {
  const left = new Map(room)
  const admitted = new Set<string>()
  for (const { run, keys } of line) {
    if (admitted.has(run) || !keys.every((key) => (left.get(key) ?? 0) > 0)) continue
    for (const key of keys) left.set(key, (left.get(key) ?? 0) - 1)
    admitted.add(run)
  }
  return [...admitted]
}
