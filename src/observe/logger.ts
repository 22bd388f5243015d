/**
 * Where lines go: a terminal for people, a stream for programs, or a logger of the user.
 *
 * Names and errors come from users. They can neither add a second line nor reach the terminal as an escape sequence.
 */
import type { Host } from "../runtime/host.ts"
import { formatInstant } from "../time/instant.ts"

/** Any logger with these four methods works. A logger like pino receives fields as well. */
export interface Logger {
  /** For developers only. */
  readonly debug: (message: string) => void
  /** Normal operation. */
  readonly info: (message: string) => void
  /** An operator should look at it. */
  readonly warn: (message: string) => void
  /** An operator has to act. */
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
  /** The promise of an asynchronous logger may reject later. */
  readonly write: (line: LogLine) => void | Promise<void>
  /** Does the logger write lines of this level at the moment? */
  readonly takes: (level: Level) => boolean
}

/** The parts of a host that a terminal needs, and the wall clock, because people read the time of a line. */
export interface TerminalParts {
  readonly host: Pick<Host, "print" | "facts">
  readonly nowMs: () => number
}

/** To stderr, without debug lines: readable on a terminal, as JSON elsewhere. */
export function terminalOutput({ host, nowMs }: TerminalParts): Output {
  const put = host.facts.isInteractive ? prettyLine : jsonLine
  return {
    write: (line) => host.print("err", put(line, nowMs())),
    takes: (level) => level !== "debug",
  }
}

/** pino and similar loggers take fields first. Any other logger receives only the text. */
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

/** Recognised as pino is: it can make children and tell their bindings. */
function isFieldLogger(logger: object): logger is FieldLogger {
  const { child, bindings } = logger as { readonly child?: unknown; readonly bindings?: unknown }
  return typeof child === "function" && typeof bindings === "function"
}

function prettyLine({ level, text }: LogLine, nowMs: number): string {
  return `${CLOCK.format(nowMs)} carillon ${level}: ${oneLine(text)}`
}

/** In the local time of the reader. */
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

/** The fields as plain JSON values, so that no logger of the user fails on them. */
function plain(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields, readable)) as LogFields
}

function readable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value)
  return typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1_000) / 1_000 : value
}

/** Characters that JSON allows in a text, and that a terminal or a reader of lines does not treat as text. */
const UNESCAPED = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}

/** Removes line breaks, control characters, and characters that change the direction of text. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ")
}
