/** Formats lists, plurals, ordinals and ranges in English. */

/** "a", "a and b", "a, b and c". */
export function list(words: readonly string[], conjunction: "and" | "or"): string {
  if (words.length <= 1) return words.join("")
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words[words.length - 1]}`
}

/** "day", "2 days". */
export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${count} ${noun}s`
}

/** "1st", "2nd", "13th". */
export function ordinal(number: number): string {
  const teen = number % 100 >= 11 && number % 100 <= 13
  const ending = teen ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th")
  return `${number}${ending}`
}

export function twoDigits(number: number): string {
  return String(number).padStart(2, "0")
}

/** Groups neighbours: [1, 2, 3, 7] is [[1, 3], [7, 7]]. */
export function runs(values: readonly number[]): [from: number, to: number][] {
  const found: [number, number][] = []
  for (const value of values) {
    const last = found[found.length - 1]
    if (last && last[1] === value - 1) last[1] = value
    else found.push([value, value])
  }
  return found
}

/** "1 to 3", "7". Three or more neighbours become a range. */
export function runWords(values: readonly number[], word: (value: number) => string): string[] {
  return runs(values).flatMap(([from, to]) => {
    if (to - from >= 2) return [`${word(from)} to ${word(to)}`]
    return from === to ? [word(from)] : [word(from), word(to)]
  })
}

/** The constant step between three or more values. `undefined` if there is none. */
export function stepOver(values: readonly number[]): number | undefined {
  const [first, second] = values
  if (first === undefined || second === undefined || values.length < 3) return undefined
  const step = second - first
  return values.every((value, index) => value === first + index * step) ? step : undefined
}
