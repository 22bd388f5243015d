/** Converts a thrown error to a record of bounded size, without characters that PostgreSQL rejects. */

export interface ErrorRecord {
  readonly code: string | null
  /** The class of the error, as its `name` says. It is not stored: it is a part of the fingerprint. */
  readonly name?: string
  readonly message: string
  readonly stack: string | null
}

const MESSAGE_LENGTH = 8_192
const STACK_LENGTH = 32_768
const CODE_LENGTH = 200
const MAX_CAUSES = 5

/** Records any thrown value. Never throws, even if reading the value throws. */
export function recordError(thrown: unknown): ErrorRecord {
  try {
    if (!(thrown instanceof Error))
      return { code: null, message: clean(describe(thrown), MESSAGE_LENGTH), stack: null }
    const code = "code" in thrown && typeof thrown.code === "string" ? clean(thrown.code, CODE_LENGTH) : null
    const stack = stackOf(thrown, MAX_CAUSES)
    return {
      code,
      ...(typeof thrown.name === "string" && { name: thrown.name.slice(0, CODE_LENGTH) }),
      message: clean(String(thrown.message), MESSAGE_LENGTH),
      stack: stack && clean(stack, STACK_LENGTH),
    }
  } catch {
    return { code: null, message: "the handler threw a value that cannot be read", stack: null }
  }
}

/** Rebuilds an `Error` from its record, for use as a `cause`. */
export function reviveError(record: ErrorRecord): Error {
  const error = new Error(record.message)
  if (record.stack !== null) error.stack = record.stack
  return record.code === null ? error : Object.assign(error, { code: record.code })
}

function stackOf(error: Error, depth: number): string | null {
  if (typeof error.stack !== "string") return null
  if (!(error.cause instanceof Error) || depth === 0) return error.stack
  return `${error.stack}\nCaused by: ${stackOf(error.cause, depth - 1) ?? error.cause.message}`
}

function describe(thrown: unknown): string {
  if (typeof thrown === "string") return thrown
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

/** Shortens a text and replaces NUL and lone surrogates, which PostgreSQL text cannot store. */
function clean(text: string, maxLength: number): string {
  const short =
    text.length > maxLength
      ? `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)`
      : text
  return short.toWellFormed().replaceAll("\0", "\uFFFD")
}
