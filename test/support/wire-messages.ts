/**
 * As much of PostgreSQL's wire protocol as it takes to know where a message ends and what it says.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export interface Message {
  /** One letter; empty for the first message of a client, which has none. */
  readonly type: string
  /** The whole message, as it has to be passed on. */
  readonly bytes: Buffer
}

/** Turns chunks of a stream into the messages that are complete by then. */
export function createMessageReader(options: { startsUntyped: boolean }): (chunk: Buffer) => Message[] {
  let untyped = options.startsUntyped
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const typeLength = untyped ? 0 : 1
      if (rest.length < typeLength + 4) return messages
      const length = typeLength + rest.readInt32BE(typeLength)
      if (rest.length < length) return messages
      const bytes = rest.subarray(0, length)
      messages.push({ type: bytes.toString("latin1", 0, typeLength), bytes })
      rest = rest.subarray(length)
      untyped = false
    }
  }
}

const BODY = 5

/** The text in the body of a typed message, from `at` up to its end mark. */
export function textOf({ bytes }: Message, at = 0): string {
  const start = BODY + at
  return bytes.toString("utf8", start, bytes.indexOf(0, start))
}

/** The process id in a message of type K, in which a server identifies its backend. */
export function readPid({ bytes }: Message): number {
  return bytes.readInt32BE(BODY)
}

export function withPid({ bytes }: Message, pid: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeInt32BE(pid, BODY)
  return changed
}
