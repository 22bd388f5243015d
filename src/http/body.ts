/** Reads the body of a request as JSON. Size, type and depth are checked before anything is parsed. */
import { CarillonError } from "../errors.ts"

/** Deeper than any input that the library accepts. */
const MOST_LEVELS = 600

export async function readBody(request: Request, mostBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, mostBytes)
  if (bytes.length === 0) return undefined
  assertJson(request)
  assertShallow(bytes)
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown
  } catch (cause) {
    throw new CarillonError("BODY_INVALID", "The body is not JSON in UTF-8.", { cause })
  }
}

/** A form of another website cannot send this type without the consent of the server. */
function assertJson({ headers }: Request): void {
  const type = (headers.get("Content-Type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    throw new CarillonError("MEDIA_TYPE", "The body has no `Content-Type: application/json`.")
  }
  const encoding = headers.get("Content-Encoding")
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new CarillonError("MEDIA_TYPE", "The body is compressed, which this server does not read.")
  }
}

/** Stops to read as soon as there is too much, whatever the length was said to be. */
async function readBytes({ body, headers }: Request, mostBytes: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array()
  if (Number(headers.get("Content-Length") ?? 0) > mostBytes) throw tooLarge(mostBytes)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > mostBytes) {
      await reader.cancel().catch(() => {})
      throw tooLarge(mostBytes)
    }
    chunks.push(value)
  }
  return joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks
  if (only && chunks.length === 1) return only
  const all = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.length
  }
  return all
}

function tooLarge(mostBytes: number): CarillonError {
  return new CarillonError("BODY_TOO_LARGE", `The body has more than ${mostBytes} bytes.`)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = [0x5b, 0x7b]
const CLOSING = [0x5d, 0x7d]

/** Counts brackets outside of texts: a parser would go as deep as they do. */
function assertShallow(bytes: Uint8Array): void {
  let level = 0
  let isText = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    if (isText) {
      if (byte === BACKSLASH) index += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (OPENING.includes(byte)) level += 1
    else if (CLOSING.includes(byte)) level -= 1
    if (level > MOST_LEVELS) {
      throw new CarillonError("BODY_INVALID", `The body is nested more than ${MOST_LEVELS} levels deep.`)
    }
  }
}
