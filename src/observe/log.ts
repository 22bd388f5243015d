/** Events as log lines. Any logger with these four methods will do: pino, winston, console. */
import { recordError } from "../queue/error-record.ts"
import type { Host } from "../runtime/host.ts"
import type { CarillonEvent } from "./events.ts"

export interface Logger {
  readonly debug: (message: string) => void
  readonly info: (message: string) => void
  readonly warn: (message: string) => void
  readonly error: (message: string) => void
}

/** To the terminal, whatever is not of interest to developers alone. */
export function createTerminalLogger(host: Host): Logger {
  const write = (level: string) => (message: string) => host.print("err", `carillon ${level}: ${message}`)
  return { debug: () => {}, info: write("info"), warn: write("warn"), error: write("error") }
}

/** Writes an event as one line at the level it deserves. */
export function logEvent(logger: Logger, event: CarillonEvent): void {
  const { level, text } = lineOf(event)
  // A line is a line, whatever a job's name or an error's message contains.
  logger[level](text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "))
}

interface Line {
  readonly level: keyof Logger
  readonly text: string
}

function lineOf(event: CarillonEvent): Line {
  switch (event.type) {
    case "database.unreachable":
      return {
        level: "warn",
        text: `the database cannot be reached, trying again and again: ${messageOf(event.error)}`,
      }
    case "pools.unserved":
      return {
        level: "info",
        text: `jobs left to other processes, because their pools are not served here: ${event.jobs.join(", ")}`,
      }
    case "embedded.started":
      return { level: "info", text: `embedded PostgreSQL started: ${event.url}` }
    case "schema.migrated":
      return { level: "debug", text: `schema "${event.schema}" migrated to version ${event.versions.at(-1)}` }
    case "worker.started":
      return { level: "debug", text: `worker started for ${event.pools.join(", ")}` }
    case "worker.stopped":
      return { level: "debug", text: `worker stopped, ${counted(event.unfinished, "attempt")} unfinished` }
    case "lease.lost":
      return {
        level: "error",
        text: `lease lost with ${counted(event.runs, "run")} under way; the results will be discarded`,
      }
    case "lease.reaped":
      return {
        level: "warn",
        text: `${counted(event.runs, "run")} taken back from ${counted(event.leases.length, "dead worker")}`,
      }
    case "run.enqueued":
      return { level: "debug", text: `${event.job} ${event.run} enqueued` }
    case "attempt.started":
      return { level: "debug", text: `${nameOf(event)} started` }
    case "attempt.finished":
      return finishedLine(event)
    case "attempt.fenced":
      return {
        level: "warn",
        text: `${nameOf(event)} ended after its lease was lost; the result was discarded`,
      }
    case "attempt.overran":
      return {
        level: "warn",
        text: `${nameOf(event)} went on after ${event.because}; its slot stays taken until it ends`,
      }
    case "loop.failed":
      return {
        level: event.failures > 1 ? "error" : "warn",
        text: `${event.loop} failed, goes on: ${messageOf(event.error)}`,
      }
  }
}

function finishedLine(event: Extract<CarillonEvent, { type: "attempt.finished" }>): Line {
  const took = `in ${Math.round(event.durationMs)} ms`
  if (event.outcome === "succeeded") return { level: "debug", text: `${nameOf(event)} succeeded ${took}` }
  const why = event.error ? `: ${event.error.message}` : ""
  const level = event.runState === "dead" ? "error" : event.outcome === "released" ? "info" : "warn"
  return { level, text: `${nameOf(event)} ${event.outcome} ${took}, run is ${event.runState}${why}` }
}

function nameOf(event: { readonly job: string; readonly run: string; readonly attempt: number }): string {
  return `${event.job} ${event.run} attempt ${event.attempt}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

function messageOf(error: unknown): string {
  return recordError(error).message
}
