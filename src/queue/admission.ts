/** Decides which parked runs to admit when their limits have room: a pure function, in the order of the line. */

export interface InLine {
  readonly run: string
  /** The limit keys that must all have room. */
  readonly keys: readonly string[]
}

/**
 * The runs with room under all their keys, taken in order. A run without room keeps its place and does not block later
 * runs with other keys.
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
