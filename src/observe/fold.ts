/**
 * Folds the lines of equal failures. The first is written in full. After that, one line per interval says how many
 * more there were. A failing job must not bury all other lines.
 */
import type { Host, Timer } from "../runtime/host.ts"
import type { LogLine } from "./logger.ts"

export interface Fold {
  /** Writes the line, unless one of the same kind was just written. */
  readonly write: (line: LogLine, sameness: string | undefined) => void
  /** Writes the counts, and stops counting. */
  readonly close: () => void
}

interface Window {
  readonly first: LogLine
  readonly timer: Timer
  more: number
}

export const FOLD_MS = 10_000
/** More kinds of failures than a person reads. All further kinds count as one. */
const MOST_KINDS = 1_000
const OTHERS = ""

export function createFold(host: Pick<Host, "every">, put: (line: LogLine) => void): Fold {
  const windows = new Map<string, Window>()
  let closed = false

  function endInterval(kind: string): void {
    const window = windows.get(kind)
    if (window === undefined) return
    if (window.more === 0) {
      window.timer.cancel()
      windows.delete(kind)
    } else {
      const { more } = window
      window.more = 0
      put(foldedLine(kind, window.first, more))
    }
  }

  return {
    write: (line, sameness) => {
      if (closed || sameness === undefined) return put(line)
      const kind = windows.has(sameness) || windows.size < MOST_KINDS ? sameness : OTHERS
      const window = windows.get(kind)
      if (window) {
        window.more += 1
        return
      }
      // It does not keep the process alive. It is cancelled after an interval without lines.
      windows.set(kind, { first: line, timer: host.every(FOLD_MS, () => endInterval(kind)), more: 0 })
      put(line)
    },
    close: () => {
      closed = true
      for (const [kind, { timer, first, more }] of windows) {
        timer.cancel()
        if (more > 0) put(foldedLine(kind, first, more))
      }
      windows.clear()
    },
  }
}

function foldedLine(kind: string, { level, text, fields }: LogLine, more: number): LogLine {
  const what = kind === OTHERS ? "more failures of other kinds" : "more of the same"
  const { run: _run, attempt: _attempt, attemptId: _id, tenant: _tenant, durationMs: _ms, ...common } = fields
  return {
    level,
    text: `${more} ${what} in the last ${FOLD_MS / 1_000} s: ${text}`,
    fields: { ...common, folded: more, withinMs: FOLD_MS },
  }
}
