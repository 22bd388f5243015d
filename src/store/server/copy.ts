/**
 * COPY over the driver's connection, in both directions. Rows are a stream of bytes that is never in memory as a whole.
 *
 * The driver parses the messages and leaves their handling to the submitter of the command. It refuses such commands on
 * connections that pipeline, as the pools' connections do; see copy-connection.ts.
 */
import { once } from "node:events"
import { type Duplex, Readable } from "node:stream"
import type pg from "pg"

/** What COPY needs of the driver's connection, which its types leave out. */
interface Wire {
  readonly stream: Duplex
  readonly query: (text: string) => void
  readonly endCopyFrom: () => void
  readonly sendCopyFail: (message: string) => void
}

/** A command that receives every message of its answer. */
interface Submitted {
  readonly submit: (wire: Wire) => void
  readonly handleError: (error: unknown) => void
  readonly handleReadyForQuery: () => void
  readonly handleCommandComplete: (message: { readonly text: string }) => void
  readonly handleCopyData?: (message: { readonly chunk: Uint8Array }, wire: Wire) => void
  readonly handleCopyInResponse?: (wire: Wire) => void
}

/** How many bytes may wait to be read before the socket is paused. */
const AHEAD_BYTES = 256 * 1024

/**
 * The data of `copy ... to stdout`, in chunks of any size. While the caller does not read, the socket is paused and the
 * server waits. A caller that does not read to the end makes the connection useless.
 */
export function copyOut(client: pg.Client, sql: string): AsyncIterable<Uint8Array> {
  const { stream } = (client as unknown as { connection: Wire }).connection
  const rows = new Readable({ highWaterMark: AHEAD_BYTES, read: () => void stream.resume() })
  submit(client, {
    submit: (wire) => wire.query(sql),
    handleCopyData: ({ chunk }) => {
      // A copy, because the driver reuses the memory of the chunk.
      if (!rows.push(new Uint8Array(chunk))) stream.pause()
    },
    handleCommandComplete: () => {},
    handleReadyForQuery: () => {
      // The reader asks for no more after the end, but the connection must go on reading the next answer.
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
 * Sends `source` as the data of `copy ... from stdin` and returns how many rows the server took. If the source fails,
 * the COPY fails with the error of the source.
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

/** Writes the message itself: the driver's own method would copy every chunk once more. */
function sendChunk(stream: Duplex, chunk: Uint8Array): void {
  const head = new Uint8Array(5)
  head[0] = COPY_DATA
  // The length includes its own four bytes.
  new DataView(head.buffer).setUint32(1, chunk.length + 4)
  stream.cork()
  stream.write(head)
  stream.write(chunk)
  stream.uncork()
}
