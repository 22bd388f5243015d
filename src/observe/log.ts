/** Writes events as log lines. */
import type { JobChange } from "../job/reconcile.ts"
import { recordError } from "../queue/error-record.ts"
import { shapeOf } from "../queue/fingerprint.ts"
import type { Host } from "../runtime/host.ts"
import { formatInstant } from "../time/instant.ts"
import { bulkLine } from "./bulk-lines.ts"
import { deadLetterLine } from "./dead-letter-lines.ts"
import type { CarillonEvent, LossReason, StuckHandler, UnhandledJob } from "./events.ts"
import { createFold } from "./fold.ts"
import { because, counted, type Line, someOf } from "./line.ts"
import { fieldsOf, samenessOf } from "./log-fields.ts"
import type { Level, LogLine, Output } from "./logger.ts"
import { steeringLine } from "./steering-lines.ts"

export interface Log {
  /** Writes an event as one line, at its level. */
  readonly tell: (event: CarillonEvent) => void
  /** Writes that a listener failed. Never fails itself. */
  readonly tellListenerFailure: (error: unknown) => void
  /** Are events about every single run written at all? */
  readonly hearsRoutine: () => boolean
  /** Writes the lines that were held back. */
  readonly close: () => void
}

export function createLog(host: Pick<Host, "every">, output: Output): Log {
  const fold = createFold(host, (line) => {
    write(line, (error) => write(listenerLine(error), () => {}))
  })

  /**
   * An asynchronous logger may fail later. Its failure is written to that logger, once, because there is no other
   * place.
   */
  function write(line: LogLine, onFailure: (error: unknown) => void): void {
    try {
      const returned: unknown = output.write(line)
      if (returned instanceof Promise) returned.catch(onFailure)
    } catch (error) {
      onFailure(error)
    }
  }

  return {
    tell: (event) => {
      // Most events interest only developers, and most terminals belong to operators.
      if (isRoutine(event) && !output.takes("debug")) return
      const { level, text } = lineOf(event)
      if (!output.takes(level)) return
      fold.write({ level, text, fields: fieldsOf(event) }, samenessOf(event, level))
    },
    tellListenerFailure: (error) => {
      fold.write(listenerLine(error), `listener.failed\n${shapeOf(recordError(error))}`)
    },
    hearsRoutine: () => output.takes("debug"),
    close: fold.close,
  }
}

function listenerLine(error: unknown): LogLine {
  const { code, message } = recordError(error)
  const fields = { event: "listener.failed", error: { code, message } }
  return { level: "error", text: `a listener failed: ${message}`, fields }
}

function isRoutine(event: CarillonEvent): boolean {
  if (event.type === "attempt.finished") {
    return event.outcome === "succeeded" || (event.outcome === "released" && event.durationMs === 0)
  }
  return event.type === "attempt.started" || event.type === "run.enqueued"
}

function lineOf(event: CarillonEvent): Line {
  switch (event.type) {
    case "database.unreachable":
      return {
        level: "warn",
        text: `the database cannot be reached, trying again and again: ${messageOf(event.error)}`,
      }
    case "database.crowded":
      return {
        level: "warn",
        text:
          `the database has no more connections to give, so this process goes on with ${event.held}: ` +
          `${messageOf(event.error)}. Allow more there, or fewer here: \`connections: { max }\``,
      }
    case "pools.unserved":
      return {
        level: "warn",
        text:
          `jobs left to other processes, because \`pools\` does not name theirs: ${event.jobs.join(", ")}. ` +
          "To execute them here as well, give their pools slots there.",
      }
    case "pool.unserved":
      return {
        level: "warn",
        text:
          `no live worker serves pool "${event.pool}": runs of ${event.job} wait there until one does` +
          (event.meant === undefined ? "" : `; did you mean "${event.meant}"?`),
      }
    case "embedded.started":
      return { level: "info", text: `embedded PostgreSQL started: ${event.url}` }
    case "embedded.joined":
      return { level: "info", text: `embedded PostgreSQL of another process in use: ${event.url}` }
    case "database.read-only":
      return {
        level: "warn",
        text: `the database takes no writes, so work waits until it does: ${messageOf(event.error)}`,
      }
    case "database.writable":
      return { level: "info", text: "the database takes writes again" }
    case "schema.missing":
      return {
        level: "error",
        text:
          `schema "${event.schema}" or a part of it is gone; trying again until it is back: ` +
          messageOf(event.error),
      }
    case "schema.restored":
      return { level: "info", text: `schema "${event.schema}" is back` }
    case "pglite.opened":
      return pgliteLine(event)
    case "schema.migrated":
      return { level: "debug", text: `schema "${event.schema}" migrated to version ${event.versions.at(-1)}` }
    case "worker.started":
      return { level: "debug", text: `worker started for ${event.pools.join(", ")}` }
    case "worker.stopped":
      return { level: "debug", text: `worker stopped, ${counted(event.unfinished, "attempt")} unfinished` }
    case "job.declared":
      return { level: "debug", text: `${event.job} declared` }
    case "job.changed":
      return { level: "info", text: `${event.job} changed: ${changesText(event.changes)}` }
    case "job.outdated":
      return {
        level: "info",
        text: `${event.job} stays as version ${event.stored} declares it; this process is ${ageOf(event.declared)}`,
      }
    case "runs.unhandled":
      return {
        level: "warn",
        text: `runs wait for a worker that can execute them: ${event.jobs.map(unhandledText).join(", ")}`,
      }
    case "worker.blocked":
      return {
        level: event.renewed ? "warn" : "error",
        text:
          `the event loop was blocked for ${seconds(event.forMs)}, longer than a lease, which was ` +
          `${event.renewed ? "renewed meanwhile" : "not renewed"}; move such work to a thread or a process`,
      }
    case "lease.lost":
      return {
        level: "error",
        text: `lease lost with ${counted(event.runs, "run")} under way, because ${LOSSES[event.because]}`,
      }
    case "leases.awaited":
      return {
        level: "info",
        text:
          `${counted(event.workers.length, "other worker")} (${someOf(event.workers)}) held runs when this process ` +
          `started; if dead, their leases end by ${formatInstant(event.until.getTime())}, and then their runs go on`,
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
    case "worker.stuck":
      return stuckLine(event)
    case "worker.unstuck":
      return {
        level: "info",
        text: `${nameOf(event)} has returned, ${seconds(event.forMs)} late; ${lostText(event)}`,
      }
    case "pool.exhausted":
      return {
        level: "error",
        text:
          `pool ${event.pool} executes nothing any more in this process: handlers that do not return have all of its ` +
          `${counted(event.slots, "slot")}. Restart the process; with \`onStuck: "exit"\` it ends by itself`,
      }
    case "attempt.slow":
      return {
        level: "warn",
        text: `${nameOf(event)} has been running for ${seconds(event.elapsedMs)}, usual are ${seconds(event.usualMs)}`,
      }
    case "retry.faulty":
      return { level: "warn", text: `${nameOf(event)}: ${event.message}` }
    case "dead-letters.growing":
    case "dead-letters.replayed":
    case "dead-letters.discarded":
    case "dead-letters.resolved":
    case "dead-letters.ignored":
    case "dead-letters.reopened":
      return deadLetterLine(event)
    case "pause.began":
    case "pause.ended":
    case "job.overridden":
    case "job.override-ended":
      return steeringLine(event)
    case "bulk.started":
    case "bulk.progress":
    case "bulk.paused":
    case "bulk.resumed":
    case "bulk.aborted":
    case "bulk.finished":
      return bulkLine(event)
    case "run.cancelled":
      return { level: "info", text: `run ${event.run} cancelled by ${event.actor}${because(event.reason)}` }
    case "run.changed": {
      const { run, change, actor, reason } = event
      return { level: "info", text: `run ${run} ${change} by ${actor}${because(reason)}` }
    }
    case "schedule.declared":
      return { level: "debug", text: `schedule ${event.name} declared` }
    case "schedule.changed":
      return { level: "info", text: `schedule ${event.name} changed: ${changesText(event.changes)}` }
    case "schedule.revived":
      return {
        level: "info",
        text:
          `schedule ${event.name} is declared again, and goes on` +
          (event.changes.length > 0 ? `: ${changesText(event.changes)}` : ""),
      }
    case "schedule.removed":
      return { level: "info", text: `schedule ${event.name} is declared no more, and is ${event.became}` }
    case "schedule.taken":
      return takenLine(event)
    case "schedules.outdated":
      return {
        level: "info",
        text: `schedules stay as version ${event.stored} declares them; this process is ${ageOf(event.declared)}`,
      }
    case "schedule.warned":
      return {
        level: "warn",
        text: `schedule ${event.name}: ${event.warnings.map(({ message }) => message).join(" ")}`,
      }
    case "schedule.failed":
      return { level: "error", text: `schedule ${event.name} is set aside: ${event.message} (${event.code})` }
    case "schedule.held":
      return { level: "warn", text: `schedule ${event.name} waits: too many of its runs are unfinished` }
    case "schedule.dropped":
      return droppedLine(event)
    case "schedule.paused":
      return {
        level: "error",
        text: `schedule ${event.name} is paused: ${event.failures} of its runs died in a row`,
      }
    case "schedule.ended":
      return {
        level: event.state === "missed" ? "warn" : "info",
        text: `schedule ${event.name} is ${event.state}`,
      }
    case "zones.outdated":
      return {
        level: "warn",
        text:
          `schedules in time zones are left to other processes, because this one has older rules for zones ` +
          `(${event.own || "unknown"}) than they have (${event.newest}); update Node here`,
      }
    case "loop.failed":
      return {
        level: event.failures > 1 ? "error" : "warn",
        text: `${event.loop} failed, goes on: ${messageOf(event.error)}`,
      }
  }
}

const LOSSES: Readonly<Record<LossReason, string>> = {
  dead: "this process was silent for too long; the results will be discarded",
  expired: "it could not be renewed in time; others may take the runs",
  "server-changed": "another database server answers than before; others will take the runs",
}

/** For every user who did not choose PGlite: what it does not promise. */
function pgliteLine({ folder, platform, because }: Extract<CarillonEvent, { type: "pglite.opened" }>): Line {
  const limits =
    "It serves this process only, and what it holds survives the death of the process but not a power loss; " +
    'for more, give a server: `database: "postgres://..."`'
  if (because === "chosen") return { level: "info", text: `the database is PGlite in ${folder}. ${limits}` }
  return {
    level: "warn",
    text: `no PostgreSQL binaries for this platform (${platform}), so the database is PGlite in ${folder}. ${limits}`,
  }
}

function stuckLine(event: Extract<CarillonEvent, { type: "worker.stuck" }>): Line {
  const place = event.holdsPlace ? ", and its run keeps its place under limits until it does" : ""
  return {
    level: "error",
    text:
      `${nameOf(event)} has not returned ${seconds(event.forMs)} after it was ${event.because.replaceAll("_", " ")}; ` +
      `its slot is lost until it does${place}. ${lostText(event)}`,
  }
}

function lostText({ pool, slots, slotsLost }: { readonly pool: string } & StuckHandler): string {
  return `Pool ${pool} has lost ${slotsLost} of ${counted(slots, "slot")}`
}

function finishedLine(event: Extract<CarillonEvent, { type: "attempt.finished" }>): Line {
  const took = `in ${Math.round(event.durationMs)} ms`
  if (event.outcome === "succeeded") return { level: "debug", text: `${nameOf(event)} succeeded ${took}` }
  const why = event.error ? `: ${event.error.message}` : ""
  const level =
    event.runState === "dead" ? "error" : event.outcome === "released" ? releasedLevel(event) : "warn"
  return { level, text: `${nameOf(event)} ${event.outcome} ${took}, run is ${event.runState}${why}` }
}

/** A warning only with misfire `all`: with any other policy the user asked for it. */
function droppedLine(event: Extract<CarillonEvent, { type: "schedule.dropped" }>): Line {
  const { name, first, last, count, bound, misfire } = event
  const when =
    count === 1 ? `of ${first.toISOString()}` : `from ${first.toISOString()} to ${last.toISOString()}`
  const why =
    bound === "within" ? "older than `within` of its misfire policy" : "more than `max` of its misfire policy"
  return {
    level: misfire === "all" ? "warn" : "info",
    text:
      `schedule ${name} made no runs for ${counted(count, "missed occurrence")} ${when}, because they were ${why}; ` +
      "`schedules.backfill` makes them",
  }
}

function changeText({ field, before, after }: JobChange): string {
  return `${field} from ${JSON.stringify(before)} to ${JSON.stringify(after)}`
}

function changesText(changes: readonly JobChange[]): string {
  return changes.map(changeText).join(", ")
}

function takenLine({ name, by }: Extract<CarillonEvent, { type: "schedule.taken" }>): Line {
  const application = by === "" ? "an application without a name" : `application ${by}`
  const how = by === null ? "made by a call" : `declared by ${application}`
  return {
    level: "warn",
    text:
      `schedule ${name} is not as declared here: the one of that name was ${how}, and stays. ` +
      "Delete it, or use another name",
  }
}

function ageOf(declared: string | null): string {
  return declared === null ? "of no version" : `of version ${declared}`
}

function unhandledText({ job, pool, runs }: UnhandledJob): string {
  return `${job} in pool ${pool} (${counted(runs, "run")})`
}

/** A run that was claimed ahead and given back never began, so it is not logged. */
function releasedLevel({ durationMs }: { readonly durationMs: number }): Level {
  return durationMs > 0 ? "info" : "debug"
}

function nameOf(event: { readonly job: string; readonly run: string; readonly attempt: number }): string {
  return `${event.job} ${event.run} attempt ${event.attempt}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function messageOf(error: unknown): string {
  return recordError(error).message
}
