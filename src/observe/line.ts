/** A line of the log, and the phrases that lines share. */
import type { Level } from "./logger.ts"

export interface Line {
  readonly level: Level
  readonly text: string
}

export function someOf(names: readonly string[], between = ", "): string {
  const shown = names.slice(0, MOST_NAMES).join(between)
  return names.length > MOST_NAMES ? `${shown}${between}...` : shown
}

const MOST_NAMES = 5

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

/** Nothing where no reason was given. */
export function because(reason: string): string {
  return reason === "" ? "" : `: ${reason}`
}
