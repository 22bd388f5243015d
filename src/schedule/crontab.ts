/** A user's crontab as schedules, with a note about everything that had to be changed or left out. */
import { CarillonError } from "../errors.ts"
import { assertOptions, object, satisfies } from "../options/check.ts"
import { parseCron } from "../time/cron-parse.ts"
import { readSchedule } from "./schedule.ts"
import type { CronSpec } from "./spec.ts"
import { zoneNamed } from "./zones.ts"

/** What `importCrontab` has read. */
export interface ImportedCrontab {
  /** The lines that can be schedules. */
  readonly entries: readonly CrontabEntry[]
  /** What to look at, by line. */
  readonly notes: readonly CrontabNote[]
}

/** One line of a crontab, read. */
export interface CrontabEntry {
  /** Counted from 1. */
  readonly line: number
  /** When it happens, as a schedule says it. */
  readonly spec: CronSpec
  /** What the line would have run. */
  readonly command: string
}

/** What somebody has to look at after an import. */
export interface CrontabNote {
  /** The line it is about, counted from 1. */
  readonly line: number
  /** What kind of note it is. */
  readonly code: /** A step beside another day field: cron asks for both there, and so does the schedule now. */
    | "days-joined"
    /** A zone was taken from `CRON_TZ`. */
    | "zone-taken"
    /** No zone is given: cron means that of its machine, the schedules mean UTC. */
    | "zone-assumed"
    /** `@reboot` is not a time. */
    | "reboot-left-out"
    /** A variable that does not concern the times. */
    | "variable-left-out"
    /** A `%` in the command, which cron replaces by a line break. */
    | "percent-in-command"
    /** The line could not be read. */
    | "not-understood"
  /** The note, for people. */
  readonly message: string
}

/** Reads a crontab as `crontab -l` prints it. What cannot be read is noted. */
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
      const message = "Cron means the zone of its machine; without a CRON_TZ the entries are in UTC."
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

/** The zone for the lines that follow. */
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
      message: `${name} is for the command, not for the times; it was left out.`,
    })
    return current
  }
  try {
    zoneNamed(value)
    notes.push({ line, code: "zone-taken", message: `The entries below are in ${value}.` })
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
      message: "@reboot is not a time: enqueue a run when your program starts.",
    })
    return undefined
  }
  const command = words.slice(fields.length).join(" ")
  if (/(^|[^\\])%/.test(command)) {
    const message =
      "cron replaces an unescaped % in a command by a line break; the command was kept as it is."
    notes.push({ line, code: "percent-in-command", message })
  }
  try {
    parseCron(fields.join(" "), "vixie")
    const spec = { cron: joinDays(fields, line, notes), ...(timeZone !== undefined && { timeZone }) }
    // What can never fire would be refused later, without the number of its line.
    readSchedule(spec)
    return { line, command, spec }
  } catch (error) {
    notes.push({ line, code: "not-understood", message: messageOf(error) })
    return undefined
  }
}

/**
 * The cron daemon takes a day field that begins with a star for unrestricted, even with a step, and then asks for
 * both fields. Here a step is a restriction and either field is enough, unless there is a "+".
 */
function joinDays(fields: readonly string[], line: number, notes: CrontabNote[]): string {
  const [minute, hour, monthDay, month, weekday] = fields
  if (monthDay === undefined || weekday === undefined) return fields.join(" ")
  const isRestricted = monthDay !== "*" && weekday !== "*"
  if (!isRestricted || !(monthDay.startsWith("*") || weekday.startsWith("*"))) return fields.join(" ")
  const message = `Cron asks for both "${monthDay}" and "${weekday}" here; that is written with a "+".`
  notes.push({ line, code: "days-joined", message })
  return [minute, hour, monthDay, month, `+${weekday}`].join(" ")
}

function messageOf(error: unknown): string {
  return error instanceof CarillonError ? error.message : String(error)
}
