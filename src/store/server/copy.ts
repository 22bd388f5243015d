/**
 * COPY over the driver's connection, in both directions: rows as a stream of bytes that is never held as a whole.
 *
 * The driver knows the messages and leaves what to do with them to whoever submits the command. It refuses such commands
 * on connections that pipeline, as those of the pools do; see copy-connection.ts.
 */
import { once } from "node:events"
import { type Duplex, Readable } from "node:stream"
import type pg from "pg"

/** What the driver's connection can do for a COPY, which its types leave out. */
interface Wire {
  readonly stream: Duplex
  readonly query: (text: string) => void
  readonly endCopyFrom: () => void
  readonly sendCopyFail: (message: string) => void
}

/** A command that is told of every message that answers it. */
interface Submitted {
  readonly submit: (wire: Wire) => void
  readonly handleError: (error: unknown) => void
  readonly handleReadyForQuery: () => void
  readonly handleCommandComplete: (message: { readonly text: string }) => void
  readonly handleCopyData?: (message: { readonly chunk: Uint8Array }, wire: Wire) => void
  readonly handleCopyInResponse?: (wire: Wire) => void
}

/** How much may wait to be read before the server is no longer listened to. */
const AHEAD_BYTES = 256 * 1024

/**
 * What `copy ... to stdout` sends, in pieces of any size. While nobody takes them, nothing is read from the server, which
 * then waits. Whoever does not read to the end leaves a connection behind that is good for nothing.
 */
export function copyOut(client: pg.Client, sql: string): AsyncIterable<Uint8Array> {
  const { stream } = (client as unknown as { connection: Wire }).connection
  const rows = new Readable({ highWaterMark: AHEAD_BYTES, read: () => void stream.resume() })
  submit(client, {
    submit: (wire) => wire.query(sql),
    handleCopyData: ({ chunk }) => {
      // A copy: the driver reuses the memory that the chunk lies in.
      if (!rows.push(new Uint8Array(chunk))) stream.pause()
    },
    handleCommandComplete: () => {},
    handleReadyForQuery: () => {
      // Nobody asks for more after the end, and the next answer has to be heard.
      stream.resume()
      rows.push(null)
    },
    handleError: (error) => {
      rows.destroy(error instanceof Error ? error : new Error(String(error)))
    },
  })
  return rows
}

/**
 * Sends `source` as the data of `copy ... from stdin` and returns how many rows the server took. If the source fails, so
 * does the COPY, with the error of the source.
 */
export function copyIn(client: pg.Client, sql: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  return new Promise((resolve, reject) => {
    const over = new AbortController()
    let rows = 0
    let fault: { readonly error: unknown } | undefined

    async function pump(wire: Wire): Promise<void> {
      const { stream } = wire
      try {
        for await (const chunk of source) {
          if (over.signal.aborted) return
          sendChunk(stream, chunk)
          if (stream.writableNeedDrain) await once(stream, "drain", { signal: over.signal })
        }
        wire.endCopyFrom()
      } catch (error) {
        if (over.signal.aborted) return
        fault = { error }
        wire.sendCopyFail("the source of the data failed")
      }
    }

    submit(client, {
      submit: (wire) => wire.query(sql),
      handleCopyInResponse: (wire) => void pump(wire),
      handleCommandComplete: ({ text }) => {
        rows = Number(text.split(" ").at(-1))
      },
      handleReadyForQuery: () => resolve(rows),
      handleError: (error) => {
        over.abort()
        reject(fault === undefined ? error : fault.error)
      },
    })
  })
}

function submit(client: pg.Client, command: Submitted): void {
  client.query(command as unknown as pg.Submittable)
}

const COPY_DATA = "d".charCodeAt(0)

/** The message by hand: the driver's own would copy every chunk once more. */
function sendChunk(stream: Duplex, chunk: Uint8Array): void {
  const head = new Uint8Array(5)
  head[0] = COPY_DATA
  // The length counts itself.
  new DataView(head.buffer).setUint32(1, chunk.length + 4)
  stream.cork()
  stream.write(head)
  stream.write(chunk)
  stream.uncork()
}
