/**
 * Where lines go: a terminal that a person reads, a stream that a program reads, or a logger of the user's.
 *
 * What users name or throw cannot make a second line of one, nor reach the terminal as an escape sequence.
 */
import type { Host } from "../runtime/host.ts"
import { formatInstant } from "../time/instant.ts"

/** Any logger with these four methods will do. One that is shaped like pino's receives fields as well. */
export interface Logger {
  /** What is of interest to developers alone. */
  readonly debug: (message: string) => void
  /** What is as it should be. */
  readonly info: (message: string) => void
  /** What somebody should look at. */
  readonly warn: (message: string) => void
  /** What somebody has to look at. */
  readonly error: (message: string) => void
}

export type Level = keyof Logger

export interface LogLine {
  readonly level: Level
  readonly text: string
  readonly fields: LogFields
}

/** The facts of an event, with its type as `event`. */
export type LogFields = Readonly<Record<string, unknown>>

export interface Output {
  /** What an asynchronous logger returns may fail later. */
  readonly write: (line: LogLine) => void | Promise<void>
  /** Whether it has any use for lines of this level just now. */
  readonly takes: (level: Level) => boolean
}

/** The parts of a host that a terminal needs, and the wall clock: the time of a line is for people. */
export interface TerminalParts {
  readonly host: Pick<Host, "print" | "facts">
  readonly nowMs: () => number
}

/** To stderr, whatever is not of interest to developers alone: for reading on a terminal, as JSON elsewhere. */
export function terminalOutput({ host, nowMs }: TerminalParts): Output {
  const put = host.facts.isInteractive ? prettyLine : jsonLine
  return {
    write: (line) => host.print("err", put(line, nowMs())),
    takes: (level) => level !== "debug",
  }
}

/** pino and its kin take fields first; any other logger receives the text alone. */
export function outputOf(logger: Logger): Output {
  if (!isFieldLogger(logger)) {
    return { write: ({ level, text }) => logger[level](oneLine(text)), takes: () => true }
  }
  return {
    write: ({ level, text, fields }) => logger[level](plain(fields), oneLine(text)),
    takes: (level) => logger.isLevelEnabled?.(level) ?? true,
  }
}

interface FieldLogger extends Record<Level, (fields: LogFields, message: string) => void> {
  readonly isLevelEnabled?: (level: string) => boolean
}

/** As pino's are: they can make children, and say what these are bound to. */
function isFieldLogger(logger: object): logger is FieldLogger {
  const { child, bindings } = logger as { readonly child?: unknown; readonly bindings?: unknown }
  return typeof child === "function" && typeof bindings === "function"
}

function prettyLine({ level, text }: LogLine, nowMs: number): string {
  return `${CLOCK.format(nowMs)} carillon ${level}: ${oneLine(text)}`
}

/** By the clock on the wall of those who read it. */
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
})

function jsonLine({ level, text, fields }: LogLine, nowMs: number): string {
  const line = { time: formatInstant(nowMs), level, name: "carillon", message: oneLine(text), ...fields }
  return JSON.stringify(line, readable).replace(UNESCAPED, escapeCharacter)
}

/** The fields as JSON has them: nothing that a logger of the user's could stumble over. */
function plain(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields, readable)) as LogFields
}

function readable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value)
  return typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1_000) / 1_000 : value
}

/** What JSON allows in a text and a terminal, or a reader of lines, does not take for text. */
const UNESCAPED = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}

/** Without line breaks and control characters, and without those that turn the direction of what follows. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ")
}
