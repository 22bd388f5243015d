/** Encodes inputs and results as JSON. Rejects values that JSON would change, and names their place. */
import { PayloadError } from "../errors.ts"

/** Deeper data is a mistake and could overflow the stack of a reader. */
const MAX_DEPTH = 500

/** The JSON text of a value. `undefined` becomes null. */
export function encodePayload(
  value: unknown,
  what: "input" | "result" | "progress",
  maxBytes: number,
): string {
  if (value === undefined) return "null"
  const fault = findFault(value, [])
  if (fault) {
    const place = fault.path.length === 0 ? `The ${what}` : `${what}.${fault.path.join(".")}`
    throw new PayloadError(
      "PAYLOAD_INVALID",
      fault.path.join("."),
      `${place} cannot be stored as JSON: ${fault.problem}.`,
    )
  }
  const text = JSON.stringify(value)
  // A UTF-16 code unit takes at most three bytes in UTF-8, so short texts need no encoding.
  const bytes = text.length * 3 <= maxBytes ? text.length : new TextEncoder().encode(text).length
  if (bytes > maxBytes) {
    throw new PayloadError(
      "PAYLOAD_TOO_LARGE",
      "",
      `The ${what} has ${bytes} bytes as JSON; the limit is ${maxBytes}. ` +
        "Store the data elsewhere and pass a reference.",
    )
  }
  return text
}

/** Parses a JSON text. `__proto__` is an ordinary key. */
export function decodePayload(text: string): unknown {
  return JSON.parse(text)
}

interface PayloadFault {
  readonly path: readonly string[]
  readonly problem: string
}

/** The first place that JSON would change or reject. `above` holds the objects around the value. */
function findFault(value: unknown, above: readonly object[]): PayloadFault | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : { path: [], problem: `${value} is not a JSON number` }
    case "bigint":
      return { path: [], problem: "a bigint; convert it to a string or a number" }
    case "undefined":
      return { path: [], problem: "undefined inside an array; use null" }
    case "function":
    case "symbol":
      return { path: [], problem: `a ${typeof value}` }
    case "object":
      try {
        return value === null ? undefined : findFaultInObject(value, above)
      } catch {
        return { path: [], problem: "reading it throws an error" }
      }
  }
}

/** Runs for every input, up to 50,000 in one call, so it allocates nothing for flat objects. */
function findFaultInObject(value: object, above: readonly object[]): PayloadFault | undefined {
  if (above.length >= MAX_DEPTH) return { path: [], problem: `more than ${MAX_DEPTH} levels deep` }
  if (above.includes(value)) return { path: [], problem: "it contains itself" }
  if (hasToJson(value)) return findFaultInJson(value, above)
  if (Array.isArray(value)) return findFaultInArray(value, above)
  const kind = Object.prototype.toString.call(value)
  if (kind !== "[object Object]")
    return { path: [], problem: `a ${kind.slice(8, -1)}, which JSON would store as {}` }
  for (const key of Object.keys(value)) {
    const entry = (value as Readonly<Record<string, unknown>>)[key]
    // JSON drops undefined entries of an object, which does not change their meaning.
    if (entry === undefined || isSimple(entry)) continue
    const fault = findFault(entry, [...above, value])
    if (fault) return { ...fault, path: [key, ...fault.path] }
  }
  return undefined
}

function findFaultInArray(values: readonly unknown[], above: readonly object[]): PayloadFault | undefined {
  for (let index = 0; index < values.length; index += 1) {
    const entry = values[index]
    if (isSimple(entry)) continue
    const fault = findFault(entry, [...above, values])
    if (fault) return { ...fault, path: [String(index), ...fault.path] }
  }
  return undefined
}

/** Whether JSON stores the value unchanged. */
function isSimple(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
}

/** Checks the value of `toJSON`, as of a Date. An invalid Date gives null, which would lose its meaning. */
function findFaultInJson(
  value: { toJSON: () => unknown },
  above: readonly object[],
): PayloadFault | undefined {
  const json = value.toJSON()
  if (json === null)
    return { path: [], problem: "its toJSON() returns null, as that of an invalid Date does" }
  return findFault(json, [...above, value])
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return "toJSON" in value && typeof value.toJSON === "function"
}
