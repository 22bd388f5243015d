/** The lines that a handler logs. They are kept with the record of its attempt, up to a bound. */
import { DEFAULTS } from "../../defaults.ts"
import { recordError } from "../../queue/error-record.ts"
import type { Host } from "../../runtime/host.ts"

export interface AttemptLog {
  readonly add: (message: string, data?: unknown) => void
  /** All lines as JSON, or null if there are none. */
  readonly json: () => string | null
}

/** One line with too much data must not displace all others. */
const LINE_CHARACTERS = 16_384

export function createAttemptLog(host: Host): AttemptLog {
  let lines: string[] | undefined
  let bytes = 0
  let dropped = 0
  let startedAtMs = 0

  function add(message: string, data?: unknown): void {
    if (!lines) {
      lines = []
      startedAtMs = host.monotonicMs()
    }
    const line = lineOf(Math.round(host.monotonicMs() - startedAtMs), message, data)
    const size = new TextEncoder().encode(line).length + 1
    if (bytes + size > DEFAULTS.logBytes) {
      dropped += 1
      return
    }
    bytes += size
    lines.push(line)
  }

  return {
    add,
    json: () => {
      if (!lines) return null
      const tail = dropped > 0 ? [JSON.stringify({ dropped })] : []
      return `[${[...lines, ...tail].join(",")}]`
    },
  }
}

/** The same lines and one more from the engine, so many milliseconds after the start of the attempt. */
export function withLine(logs: string | null, afterMs: number, message: string): string {
  const line = lineOf(Math.round(afterMs), message, undefined)
  return logs === null ? `[${line}]` : `${logs.slice(0, -1)},${line}]`
}

/** Never throws: a log line that cannot be kept is no reason to fail a run. */
function lineOf(afterMs: number, message: unknown, data: unknown): string {
  const text = recordError(message).message
  try {
    const line = JSON.stringify({ afterMs, message: text, ...(data !== undefined && { data }) })
    // PostgreSQL's json holds no NUL and no half of a surrogate pair.
    if (line.length <= LINE_CHARACTERS) return line.toWellFormed()
  } catch {
    // Cycles and bigints have no JSON. The message alone is kept.
  }
  return JSON.stringify({ afterMs, message: text.slice(0, LINE_CHARACTERS), data: "(not kept)" })
}
