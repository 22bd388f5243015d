/** Imports a user's crontab as schedules, with a note about everything that it changes or leaves out. */
import { CarillonError } from "../errors.ts"
import { assertOptions, object, satisfies } from "../options/check.ts"
import { parseCron } from "../time/cron-parse.ts"
import { readSchedule } from "./schedule.ts"
import type { CronSpec } from "./spec.ts"
import { zoneNamed } from "./zones.ts"

/** The result of `importCrontab`. */
export interface ImportedCrontab {
  /** The lines that became schedules. */
  readonly entries: readonly CrontabEntry[]
  /** Notes to review, by line. */
  readonly notes: readonly CrontabNote[]
}

/** One line of a crontab, as a schedule. */
export interface CrontabEntry {
  /** The line number, counted from 1. */
  readonly line: number
  /** The schedule. */
  readonly spec: CronSpec
  /** The command of the line. */
  readonly command: string
}

/** Something to review after an import. */
export interface CrontabNote {
  /** The line number, counted from 1. */
  readonly line: number
  /** The kind of note. */
  readonly code: /** One day field has a step, the other is restricted: cron requires both, and so does the schedule. */
    | "days-joined"
    /** The zone comes from `CRON_TZ`. */
    | "zone-taken"
    /** No zone is set: cron uses the zone of its machine, the schedules use UTC. */
    | "zone-assumed"
    /** `@reboot` is not a time. */
    | "reboot-left-out"
    /** A variable that does not affect the times. */
    | "variable-left-out"
    /** A `%` in the command, which cron replaces by a line break. */
    | "percent-in-command"
    /** The line is invalid. */
    | "not-understood"
  /** The note as a sentence. */
  readonly message: string
}

/** Imports a crontab as `crontab -l` prints it. Invalid lines become notes. */
export function importCrontab(text: string): ImportedCrontab {
  assertOptions(
    "importCrontab",
    { text },
    object({ text: satisfies("a text", (value) => typeof value === "string") }),
  )
  const entries: CrontabEntry[] = []
  const notes: CrontabNote[] = []
  let timeZone: string | undefined
  for (const [index, raw] of text.split("\n").entries()) {
    const line = index + 1
    const content = raw.trim()
    if (content === "" || content.startsWith("#")) continue
    const variable = readVariable(content)
    if (variable !== undefined) {
      timeZone = readZone(variable, line, timeZone, notes)
      continue
    }
    const entry = readEntry(content, line, timeZone, notes)
    if (entry === undefined) continue
    if (timeZone === undefined && !entries.some(({ spec }) => spec.timeZone === undefined)) {
      const message =
        "Cron uses the zone of its machine. The entries use UTC, because the crontab sets no CRON_TZ."
      notes.push({ line, code: "zone-assumed", message })
    }
    entries.push(entry)
  }
  return { entries, notes }
}

interface Variable {
  readonly name: string
  readonly value: string
}

/** `NAME = value`, quoted or not. */
function readVariable(content: string): Variable | undefined {
  const equals = content.indexOf("=")
  const name = content.slice(0, Math.max(0, equals)).trim()
  if (equals < 0 || !/^[A-Za-z_]\w*$/.test(name)) return undefined
  const value = content.slice(equals + 1).trim()
  const isQuoted = value.length > 1 && (value[0] === '"' || value[0] === "'") && value.endsWith(value[0])
  return { name, value: isQuoted ? value.slice(1, -1) : value }
}

/** The zone of the following lines. */
function readZone(
  variable: Variable,
  line: number,
  current: string | undefined,
  notes: CrontabNote[],
): string | undefined {
  const { name, value } = variable
  if (name !== "CRON_TZ") {
    notes.push({
      line,
      code: "variable-left-out",
      message: `${name} affects the command, not the times. The import left it out.`,
    })
    return current
  }
  try {
    zoneNamed(value)
    notes.push({ line, code: "zone-taken", message: `The entries below use the zone ${value}.` })
    return value
  } catch (error) {
    notes.push({ line, code: "not-understood", message: messageOf(error) })
    return current
  }
}

function readEntry(
  content: string,
  line: number,
  timeZone: string | undefined,
  notes: CrontabNote[],
): CrontabEntry | undefined {
  const words = content.split(/[ \t]+/)
  const isNickname = content.startsWith("@")
  const fields = words.slice(0, isNickname ? 1 : 5)
  if (fields[0]?.toLowerCase() === "@reboot") {
    notes.push({
      line,
      code: "reboot-left-out",
      message: "@reboot is not a time. Enqueue a run when your program starts.",
    })
    return undefined
  }
  const command = words.slice(fields.length).join(" ")
  if (/(^|[^\\])%/.test(command)) {
    const message =
      "Cron replaces an unescaped % in a command by a line break. The import kept the command unchanged."
    notes.push({ line, code: "percent-in-command", message })
  }
  try {
    parseCron(fields.join(" "), "vixie")
    const spec = { cron: joinDays(fields, line, notes), ...(timeZone !== undefined && { timeZone }) }
    // Fails now, with a line number, if the schedule never fires.
    readSchedule(spec)
    return { line, command, spec }
  } catch (error) {
    notes.push({ line, code: "not-understood", message: messageOf(error) })
    return undefined
  }
}

/**
 * The cron daemon treats a day field that begins with a star as unrestricted, even with a step, and then requires both
 * fields to match. Carillon treats a step as a restriction, so either field is enough. A "+" requires both.
 */
function joinDays(fields: readonly string[], line: number, notes: CrontabNote[]): string {
  const [minute, hour, monthDay, month, weekday] = fields
  if (monthDay === undefined || weekday === undefined) return fields.join(" ")
  const isRestricted = monthDay !== "*" && weekday !== "*"
  if (!isRestricted || !(monthDay.startsWith("*") || weekday.startsWith("*"))) return fields.join(" ")
  const message = `Cron requires both "${monthDay}" and "${weekday}" here. The schedule says so with a "+".`
  notes.push({ line, code: "days-joined", message })
  return [minute, hour, monthDay, month, `+${weekday}`].join(" ")
}

function messageOf(error: unknown): string {
  return error instanceof CarillonError ? error.message : String(error)
}
