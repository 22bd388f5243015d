/** Turns an event into the fields of a log line. All events use the same names. */
import { recordError } from "../queue/error-record.ts"
import { shapeOf } from "../queue/fingerprint.ts"
import type { CarillonEvent } from "./events.ts"
import type { LogFields } from "./logger.ts"

export function fieldsOf({ type, ...facts }: CarillonEvent): LogFields {
  const fields: Record<string, unknown> = { event: type, ...facts }
  if (fields["tenant"] === "") delete fields["tenant"]
  if (fields["error"] !== undefined) fields["error"] = errorOf(fields["error"])
  // A schedule is identified by its name.
  if (type.startsWith("schedule.")) {
    const { schedule, name, code, message, ...rest } = fields
    const error = code === undefined ? {} : { error: { code, message } }
    return { ...rest, schedule: name, scheduleId: schedule, ...error }
  }
  return fields
}

interface BriefError {
  readonly code: string | null
  readonly message: string
}

function errorOf(error: unknown): BriefError {
  if (isBrief(error)) return { code: error.code, message: error.message }
  const { code, message } = recordError(error)
  return { code, message }
}

/** An error that was recorded before, as in the ends of attempts. */
function isBrief(error: unknown): error is BriefError {
  if (typeof error !== "object" || error === null || error instanceof Error) return false
  return "message" in error && "code" in error && typeof error.message === "string"
}

/**
 * The key that lines about the same failure share; `undefined` if the event is no failure. The new state of the run is
 * part of it: a death must not hide among retries.
 */
export function samenessOf(event: CarillonEvent, level: string): string | undefined {
  switch (event.type) {
    case "attempt.finished": {
      if (event.error === undefined) return undefined
      const shape = shapeOf({ ...event.error, stack: null })
      return [event.type, event.job, event.outcome, event.runState, shape].join("\n")
    }
    case "attempt.fenced":
    case "attempt.overran":
    case "attempt.slow":
    case "retry.faulty":
      return [event.type, event.job].join("\n")
    case "loop.failed":
      return [event.type, event.loop, level, shapeOf(recordError(event.error))].join("\n")
    default:
      return undefined
  }
}
