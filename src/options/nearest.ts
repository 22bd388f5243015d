/** "Did you mean": finds the known word closest to an unknown one, or its synonym. */

/** Option names of other libraries, and what to suggest for each. A pair applies where `known` is a valid option. */
const SYNONYMS: Readonly<Record<string, readonly (readonly [known: string, say: string])[]>> = {
  retries: [
    ["attempts", "attempts"],
    ["retry", "retry: { attempts }"],
  ],
  retryLimit: [["retry", "retry: { attempts }"]],
  maxRetries: [
    ["attempts", "attempts"],
    ["retry", "retry: { attempts }"],
  ],
  attempts: [["retry", "retry: { attempts }"]],
  maxAttempts: [
    ["attempts", "attempts"],
    ["retry", "retry: { attempts }"],
  ],
  backoff: [
    ["base", "base"],
    ["retry", "retry: { base }"],
  ],
  retryDelay: [["retry", "retry: { delay }"]],
  tz: [["timeZone", "timeZone"]],
  zone: [["timeZone", "timeZone"]],
  handler: [["run", "run"]],
  process: [["run", "run"]],
  execute: [["run", "run"]],
  schema: [["input", "input"]],
  payload: [["input", "input"]],
  data: [["input", "input"]],
  queue: [["pool", "pool"]],
  pattern: [["cron", "cron"]],
  interval: [["every", "every"]],
  repeat: [["every", "every"]],
  jobId: [["key", "key"]],
  singletonKey: [["key", "key"]],
  idempotencyKey: [["key", "key"]],
  at: [["runAt", "runAt"]],
  startAfter: [
    ["runAt", "runAt"],
    ["delay", "delay"],
  ],
  connectionString: [["database", "database"]],
  connection: [["database", "database"]],
  url: [["database", "database"]],
  expiresIn: [["timeout", "timeout"]],
}

/** The option to suggest for an unknown key, as the user would write it. */
export function meantOption(key: string, known: readonly string[]): string | undefined {
  const synonyms = Object.hasOwn(SYNONYMS, key) ? (SYNONYMS[key] ?? []) : []
  return synonyms.find(([word]) => known.includes(word))?.[1] ?? nearest(key, known)
}

/** The closest of `words`, if the difference is small enough for a typing error. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3))
  const ranked = words
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.candidate
}

/** The edit distance: insertions, deletions, replacements and swaps of neighbours. */
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
