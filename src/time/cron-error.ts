/** What is wrong with a cron expression, where, and how to mend it. */
import { CarillonError, type ErrorCode } from "../errors.ts"

export type CronErrorCode = Extract<ErrorCode, `CRON_${string}`>

export class CronError extends CarillonError {
  override readonly name = "CronError"
  /** The character at which the trouble begins, counted from 0. */
  readonly position: number
  /** What to write instead. */
  readonly hint: string

  constructor(code: CronErrorCode, fault: { text: string; position: number; problem: string; hint: string }) {
    const { text, position, problem, hint } = fault
    super(
      code,
      `Cron expression ${JSON.stringify(clip(text))}, character ${position + 1}: ${clip(problem)}. ${hint}`,
    )
    this.position = position
    this.hint = hint
  }
}

const SHOWN_LENGTH = 80

/** Whoever sends a thousand digits need not get them back. */
function clip(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
