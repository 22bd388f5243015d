/**
 * The file of an export: a sequence of frames, compressed with gzip.
 *
 * A frame is a line of 28 characters and a body:
 *
 *     kind  space  length of the body, 8 hex digits  space  check, 16 hex digits  line feed  body
 *
 * The check is the beginning of the SHA-256 over kind, length and body of this frame and all frames before it. A reader
 * therefore uses no frame before it knows that the frame is unaltered and in its place. The frames are, in this order:
 *
 *     H    once, JSON: the source, its migrations, tables with columns, and partitions (`ExportHeader`)
 *     T    one for each table of H in its order, JSON: {"name"}
 *     D    any number after a T: rows of its table in the text format of COPY, cut anywhere
 *     Z    once, at the end, JSON: the number of rows of each table (`ExportTrailer`). A file without it was cut off
 *
 * To read one: `gzip -dc FILE | less`.
 */
import { createHash } from "node:crypto"

export type FrameKind = "H" | "T" | "D" | "Z"

export interface Frame {
  readonly kind: FrameKind
  readonly body: Uint8Array
}

/** The longest body, which bounds what a reader must hold in memory. */
export const FRAME_BYTES = 1024 * 1024

const HEAD = /^([HTDZ]) ([0-9a-f]{8}) ([0-9a-f]{16})\n$/
const HEAD_BYTES = 28
const CHECK_DIGITS = 16

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Writes frames. The check of each covers all frames before it. */
export async function* writeFrames(frames: AsyncIterable<Frame>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256")
  for await (const { kind, body } of frames) {
    const length = body.length.toString(16).padStart(8, "0")
    yield encoder.encode(`${kind} ${length} ${checkOf(hash, kind, length, body)}\n`)
    yield body
  }
}

/** Reads frames, and yields each once its check is verified. `fail` makes the error for a bad file. */
export async function* readFrames(
  source: AsyncIterable<Uint8Array>,
  fail: (problem: string) => Error,
): AsyncGenerator<Frame> {
  const hash = createHash("sha256")
  const take = createTaker(source)
  for (;;) {
    const head = await take(HEAD_BYTES)
    if (head.length === 0) return
    const [, kind = "", length = "", check] = HEAD.exec(decoder.decode(head)) ?? []
    const bytes = Number.parseInt(length, 16)
    if (check === undefined || bytes > FRAME_BYTES)
      throw fail("it is not an export of Carillon, or was altered")
    const body = await take(bytes)
    if (body.length < bytes) throw fail("it was cut off")
    if (checkOf(hash, kind, length, body) !== check) throw fail("it was altered: a checksum is wrong")
    yield { kind: kind as FrameKind, body }
  }
}

function checkOf(
  hash: ReturnType<typeof createHash>,
  kind: string,
  length: string,
  body: Uint8Array,
): string {
  hash.update(kind).update(length).update(body)
  return hash.copy().digest("hex").slice(0, CHECK_DIGITS)
}

/** Returns a function that takes a number of bytes from a stream of chunks, or fewer at its end. */
function createTaker(source: AsyncIterable<Uint8Array>): (bytes: number) => Promise<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array()
  return async (bytes) => {
    const taken = new Uint8Array(bytes)
    let filled = 0
    while (filled < bytes) {
      if (rest.length === 0) {
        const next = await chunks.next()
        if (next.done) return taken.subarray(0, filled)
        rest = next.value
      }
      const part = rest.subarray(0, bytes - filled)
      taken.set(part, filled)
      filled += part.length
      rest = rest.subarray(part.length)
    }
    return taken
  }
}
