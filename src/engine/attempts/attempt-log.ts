/** What a handler logs, kept with the record of its attempt up to a bound. */
import { DEFAULTS } from "../../defaults.ts"
import { recordError } from "../../queue/error-record.ts"
import type { Host } from "../../runtime/host.ts"

export interface AttemptLog {
  readonly add: (message: string, data?: unknown) => void
  /** All lines as JSON, or null if there are none. */
  readonly json: () => string | null
}

/** So that a thousand words of data do not push out everything else. */
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

/** The same lines and one more of ours, so many milliseconds after the start of the attempt. */
export function withLine(logs: string | null, afterMs: number, message: string): string {
  const line = lineOf(Math.round(afterMs), message, undefined)
  return logs === null ? `[${line}]` : `${logs.slice(0, -1)},${line}]`
}

/** Never throws: a log line that cannot be written down is no reason to fail a run. */
function lineOf(afterMs: number, message: unknown, data: unknown): string {
  const text = recordError(message).message
  try {
    const line = JSON.stringify({ afterMs, message: text, ...(data !== undefined && { data }) })
    // json holds no NUL, and half a surrogate pair is no character.
    if (line.length <= LINE_CHARACTERS) return line.toWellFormed()
  } catch {
    // Cycles and bigints: the message alone has to do.
  }
  return JSON.stringify({ afterMs, message: text.slice(0, LINE_CHARACTERS), data: "(not kept)" })
}
