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
  /** Another one to run before it, whose answer nobody needs. */
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

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function createWire(pglite: Pick<PGlite, "execProtocolRawSync">): Wire {
  const prepared = new Map<string, string>()
  let notifications: Notification[] = []
  let status = "I"

  function exchange(messages: readonly Uint8Array[]): Reply {
    const answer = readAnswer(pglite.execProtocolRawSync(join(messages)))
    notifications.push(...answer.notifications)
    status = answer.status
    if (answer.error) throw answer.error
    return answer
  }

  function prepare(name: string, text: string): void {
    const known = prepared.get(name)
    if (known === text) return
    if (known !== undefined) throw new Error(`two statements are called ${name}`)
    exchange([message("P", cString(name), cString(text), int16(0)), SYNC])
    prepared.set(name, text)
  }

  return {
    send: ({ name, text, values = [], before }) => {
      const first = before === undefined ? [] : [query(before)]
      if (name === undefined && values.length === 0) return exchange([...first, query(text)])
      if (name !== undefined) prepare(name, text)
      else first.push(message("P", cString(""), cString(text), int16(0)))
      return exchange([...first, bind(name ?? "", values), DESCRIBE, EXECUTE, SYNC])
    },
    takeNotifications: () => {
      const taken = notifications
      notifications = []
      return taken
    },
    isInside: () => status !== "I",
  }
}

const SYNC = message("S")
const EXECUTE = message("E", cString(""), int32(0))
const DESCRIBE = message("D", encoder.encode("P"), cString(""))

function query(text: string): Uint8Array {
  return message("Q", cString(text))
}

function bind(name: string, values: readonly (string | null)[]): Uint8Array {
  const given = values.flatMap((value) => {
    if (value === null) return [int32(-1)]
    const bytes = encoder.encode(value)
    return [int32(bytes.length), bytes]
  })
  return message("B", cString(""), cString(name), int16(0), int16(values.length), ...given, int16(0))
}

function message(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = 4 + parts.reduce((sum, part) => sum + part.length, 0)
  return join([encoder.encode(type), int32(length), ...parts])
}

function cString(text: string): Uint8Array {
  return encoder.encode(`${text}\0`)
}

function int16(value: number): Uint8Array {
  return new Uint8Array([(value >> 8) & 255, value & 255])
}

function int32(value: number): Uint8Array {
  return new Uint8Array([(value >> 24) & 255, (value >> 16) & 255, (value >> 8) & 255, value & 255])
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

interface Answer extends Reply {
  readonly error: ServerError | undefined
  readonly notifications: readonly Notification[]
  readonly status: string
}

function readAnswer(bytes: Uint8Array): Answer {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let [columns, rows, tag, status]: [Column[], (string | null)[][], string, string] = [[], [], "", "I"]
  let error: ServerError | undefined
  const notifications: Notification[] = []
  for (let at = 0; at < bytes.length; at += 1 + view.getInt32(at + 1)) {
    const from = at + 5
    const to = at + 1 + view.getInt32(at + 1)
    switch (String.fromCharCode(bytes[at] as number)) {
      case "T":
        ;[columns, rows] = [readColumns(bytes, view, from), []]
        break
      case "D":
        rows.push(readRow(bytes, view, from))
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
  return { columns, rows, tag, error, notifications, status }
}

function readColumns(bytes: Uint8Array, view: DataView, from: number): Column[] {
  let at = from + 2
  return Array.from({ length: view.getInt16(from) }, () => {
    const end = bytes.indexOf(0, at)
    const column = { name: decoder.decode(bytes.subarray(at, end)), type: view.getInt32(end + 7) }
    at = end + 19
    return column
  })
}

function readRow(bytes: Uint8Array, view: DataView, from: number): (string | null)[] {
  let at = from + 2
  return Array.from({ length: view.getInt16(from) }, () => {
    const length = view.getInt32(at)
    at += 4
    if (length < 0) return null
    at += length
    return decoder.decode(bytes.subarray(at - length, at))
  })
}

function readError(bytes: Uint8Array, from: number, to: number): ServerError {
  const fields: Record<string, string> = {}
  for (let at = from; at < to && bytes[at] !== 0; at = bytes.indexOf(0, at) + 1) {
    fields[String.fromCharCode(bytes[at] as number)] = textUntilNul(bytes, at + 1)
  }
  const { M = "", C = "", S = "" } = fields
  return Object.assign(new Error(M), { code: C, severity: S })
}

function readNotification(bytes: Uint8Array, from: number): Notification {
  const channel = textUntilNul(bytes, from)
  return { channel, payload: textUntilNul(bytes, from + encoder.encode(channel).length + 1) }
}

function textUntilNul(bytes: Uint8Array, from: number): string {
  return decoder.decode(bytes.subarray(from, bytes.indexOf(0, from)))
}
