/**
 * Speaks to PGlite in PostgreSQL's own protocol, at once and without a promise: nothing real is waited for.
 *
 * Statements are prepared once and planned once, as on a connection of the pool, which is ten times faster than asking
 * PGlite for each query anew.
 */
import type { PGlite } from "@electric-sql/pglite"

export interface Command {
  readonly text: string
  readonly values?: readonly (string | null)[]
  /** Prepared under this name; without one it is sent as it is, and may be several statements. */
  readonly name?: string
  /** Another one to run before it, whose answer is dropped. */
  readonly before?: string
}

export interface Reply {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** As in `INSERT 0 1`. */
  readonly tag: string
}

export interface Column {
  readonly name: string
  readonly type: number
}

export interface Notification {
  readonly channel: string
  readonly payload: string
}

/** What the server says of an error: as the driver gives it, so that the real translation can be used. */
export interface ServerError extends Error {
  readonly code: string
  readonly severity: string
}

export interface Wire {
  /** Sends it and returns the answer, or throws what the server answered instead. */
  readonly send: (command: Command) => Reply
  /** What was notified since the last time. */
  readonly takeNotifications: () => Notification[]
  /** Whether a transaction is open, also one that has failed. */
  readonly isInside: () => boolean
}

export function createWire(pglite: Pick<PGlite, "execProtocolRawStream">): Wire {
  const prepared = new Map<string, Prepared>()
  let notifications: Notification[] = []
  let status = "I"

  function exchange(messages: readonly Buffer[]): Answer {
    const chunks: Buffer[] = []
    // Everything is said before the first await of it. The chunks are a view of memory that will be used again.
    void pglite.execProtocolRawStream(Buffer.concat(messages), {
      syncToFs: false,
      onRawData: (bytes) => chunks.push(Buffer.from(bytes)),
    })
    const answer = readAnswer(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    notifications.push(...answer.notifications)
    status = answer.status
    if (answer.error) throw answer.error
    return answer
  }

  /** Sent once, and what it answers with is described once. */
  function prepare(name: string, text: string): Prepared {
    const known = prepared.get(name)
    if (known?.text === text) return known
    if (known !== undefined) throw new Error(`two statements are called ${name}`)
    const { columns } = exchange([parse(name, text), message("D", cString(`S${name}`)), SYNC])
    const made = { text, name: cString(name), columns }
    prepared.set(name, made)
    return made
  }

  return {
    send: ({ name, text, values = [], before }) => {
      const first = before === undefined ? [] : [query(before)]
      if (name === undefined && values.length === 0) return exchange([...first, query(text)])
      if (name === undefined)
        return exchange([...first, parse("", text), bind(cString(""), values), DESCRIBE, EXECUTE, SYNC])
      const statement = prepare(name, text)
      const answer = exchange([...first, bind(statement.name, values), EXECUTE, SYNC])
      return { ...answer, columns: statement.columns }
    },
    takeNotifications: () => {
      const taken = notifications
      notifications = []
      return taken
    },
    isInside: () => status !== "I",
  }
}

interface Prepared {
  readonly text: string
  readonly name: Buffer
  readonly columns: readonly Column[]
}

const SYNC = message("S")
const EXECUTE = message("E", cString(""), int32(0))
const DESCRIBE = message("D", cString("P"))
/** As text, all of them. */
const NO_FORMATS = int16(0)

function query(text: string): Buffer {
  return message("Q", cString(text))
}

function parse(name: string, text: string): Buffer {
  return message("P", cString(name), cString(text), int16(0))
}

function bind(name: Buffer, values: readonly (string | null)[]): Buffer {
  const given = values.flatMap((value) => {
    if (value === null) return [int32(-1)]
    const bytes = Buffer.from(value)
    return [int32(bytes.length), bytes]
  })
  return message("B", cString(""), name, NO_FORMATS, int16(values.length), ...given, NO_FORMATS)
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = 4 + parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.from(type), int32(length), ...parts])
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`)
}

function int16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}

interface Answer extends Reply {
  readonly error: ServerError | undefined
  readonly notifications: readonly Notification[]
  readonly status: string
}

function readAnswer(bytes: Buffer): Answer {
  let [columns, rows, tag, status]: [Column[], (string | null)[][], string, string] = [[], [], "", ""]
  let error: ServerError | undefined
  const notifications: Notification[] = []
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const from = at + 5
    const to = at + 1 + bytes.readInt32BE(at + 1)
    switch (String.fromCharCode(bytes[at] as number)) {
      case "T":
        ;[columns, rows] = [readColumns(bytes, from), []]
        break
      case "D":
        rows.push(readRow(bytes, from))
        break
      case "C":
        tag = textUntilNul(bytes, from)
        break
      case "E":
        error ??= readError(bytes, from, to)
        break
      case "A":
        notifications.push(readNotification(bytes, from + 4))
        break
      case "Z":
        status = String.fromCharCode(bytes[from] as number)
        break
    }
  }
  if (status === "") throw new Error("PGlite did not answer to the end")
  return { columns, rows, tag, error, notifications, status }
}

function readColumns(bytes: Buffer, from: number): Column[] {
  let at = from + 2
  return Array.from({ length: bytes.readInt16BE(from) }, () => {
    const end = bytes.indexOf(0, at)
    const column = { name: bytes.toString("utf8", at, end), type: bytes.readInt32BE(end + 7) }
    at = end + 19
    return column
  })
}

function readRow(bytes: Buffer, from: number): (string | null)[] {
  let at = from + 2
  return Array.from({ length: bytes.readInt16BE(from) }, () => {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length < 0) return null
    at += length
    return bytes.toString("utf8", at - length, at)
  })
}

function readError(bytes: Buffer, from: number, to: number): ServerError {
  const fields: Record<string, string> = {}
  for (let at = from; at < to && bytes[at] !== 0; at = bytes.indexOf(0, at) + 1) {
    fields[String.fromCharCode(bytes[at] as number)] = textUntilNul(bytes, at + 1)
  }
  const { M = "", C = "", S = "" } = fields
  return Object.assign(new Error(M), { code: C, severity: S })
}

function readNotification(bytes: Buffer, from: number): Notification {
  const channel = textUntilNul(bytes, from)
  return { channel, payload: textUntilNul(bytes, from + Buffer.byteLength(channel) + 1) }
}

function textUntilNul(bytes: Buffer, from: number): string {
  return bytes.toString("utf8", from, bytes.indexOf(0, from))
}
