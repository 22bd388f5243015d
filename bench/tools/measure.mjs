/** Small tools for measuring: enough repetitions, interleaved rounds, medians. */

const ROUNDS = 5
/** What no single call about a schedule should take. */
const LIMIT_MS = 5

/** Of an even number the middle of the two in the middle. */
export function median(values) {
  const sorted = inOrder(values)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2
}

/** What so large a share of the values does not exceed: 0.99 is the slowest but one in a hundred. */
export function percentile(values, share) {
  return inOrder(values)[Math.max(0, Math.ceil(values.length * share) - 1)]
}

function inOrder(values) {
  return [...values].sort((a, b) => a - b)
}

/** How often per second `action` can be done, as seen in `forMs` milliseconds. */
export function rateOf(action, forMs) {
  const start = performance.now()
  let done = 0
  let elapsed = 0
  do {
    action()
    done += 1
    elapsed = performance.now() - start
  } while (elapsed < forMs)
  return (done * 1_000) / elapsed
}

/**
 * The median rates of several contenders. They take turns, so that a slow moment of the machine hits all of them, and
 * run once before that counts.
 */
export function contest(contenders, forMs) {
  const names = Object.keys(contenders)
  for (const name of names) rateOf(contenders[name], forMs)
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) rates[name].push(rateOf(contenders[name], forMs))
  }
  return Object.fromEntries(names.map((name) => [name, median(rates[name])]))
}

/**
 * Single calls, in milliseconds: the first, the median, the slowest but one in a hundred, and the slowest of all. The
 * slowest is what a limit is judged by; the others tell whether it was the call or the machine.
 */
export function timesOf(action, calls) {
  const times = Array.from({ length: calls }, () => {
    const start = performance.now()
    action()
    return performance.now() - start
  })
  return {
    firstMs: round(times[0]),
    medianMs: round(median(times)),
    p99Ms: round(percentile(times, 0.99)),
    slowestMs: round(Math.max(...times)),
    overLimit: times.filter((ms) => ms > LIMIT_MS).length,
  }
}

export function round(value, digits = 3) {
  return Number(value.toPrecision(digits))
}

/** The median, with the least and the most. */
export function spreadOf(values, digits) {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)]
  return { median: round(middle, digits), least: round(least, digits), most: round(most, digits) }
}

/** A table for people. */
export function table(head, rows) {
  const all = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join("  "),
    )
    .join("\n")
}

export function thousands(value) {
  return Math.round(value).toLocaleString("en-US")
}

/** Who goes first changes from turn to turn. */
export function inTurn(all, turn) {
  const first = turn % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}
