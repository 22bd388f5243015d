/** What an application's logger is told about events, each line with its level. */
import type { CarillonEvent } from "../../src/observe/events.ts"
import { createLog } from "../../src/observe/log.ts"
import { type Logger, outputOf } from "../../src/observe/logger.ts"
import { createSystemHost } from "../../src/runtime/system.ts"

/** A logger that keeps its lines, as in `warn: the database cannot be reached`. */
export function keepLines(): Logger & { readonly lines: string[] } {
  const lines: string[] = []
  const note = (level: string) => (line: string) => void lines.push(`${level}: ${line}`)
  return { lines, debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") }
}

export function linesOf(events: readonly CarillonEvent[]): string[] {
  const logger = keepLines()
  const log = createLog(createSystemHost(), outputOf(logger))
  for (const event of events) log.tell(event)
  log.close()
  return logger.lines
}
