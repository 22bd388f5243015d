/** Inputs and results as JSON text: what cannot be kept faithfully is refused, with the place where it stands. */
import { PayloadError } from "../errors.ts"

/** Deeper data is a mistake, and would overflow the stack of whoever reads it. */
const MAX_DEPTH = 500

/** The JSON text of a value. Absent (`undefined`) becomes null. */
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
      `${place} cannot be kept as JSON: ${fault.problem}.`,
    )
  }
  const text = JSON.stringify(value)
  // A character takes three bytes at the most.
  const bytes = text.length * 3 <= maxBytes ? text.length : new TextEncoder().encode(text).length
  if (bytes > maxBytes) {
    throw new PayloadError(
      "PAYLOAD_TOO_LARGE",
      "",
      `The ${what} has ${bytes} bytes as JSON; the limit is ${maxBytes}. Store the bulk elsewhere and pass a reference.`,
    )
  }
  return text
}

/** The value of a JSON text. A key called `__proto__` is data like any other. */
export function decodePayload(text: string): unknown {
  return JSON.parse(text)
}

interface PayloadFault {
  readonly path: readonly string[]
  readonly problem: string
}

/** The first place that JSON would change or refuse. `above` are the objects that the value is inside of. */
function findFault(value: unknown, above: readonly object[]): PayloadFault | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : { path: [], problem: `${value} is not a JSON number` }
    case "bigint":
      return { path: [], problem: "a bigint; convert it to a text or a number" }
    case "undefined":
      return { path: [], problem: "undefined inside an array; use null" }
    case "function":
    case "symbol":
      return { path: [], problem: `a ${typeof value}` }
    case "object":
      try {
        return value === null ? undefined : findFaultInObject(value, above)
      } catch {
        return { path: [], problem: "looking at it throws an error" }
      }
  }
}

/** Gone through for every input, fifty thousand in one call: it makes nothing that would have to be collected. */
function findFaultInObject(value: object, above: readonly object[]): PayloadFault | undefined {
  if (above.length >= MAX_DEPTH) return { path: [], problem: `more than ${MAX_DEPTH} levels deep` }
  if (above.includes(value)) return { path: [], problem: "it contains itself" }
  if (hasToJson(value)) return findFaultInJson(value, above)
  if (Array.isArray(value)) return findFaultInArray(value, above)
  const kind = Object.prototype.toString.call(value)
  if (kind !== "[object Object]")
    return { path: [], problem: `a ${kind.slice(8, -1)}, of which JSON would keep nothing` }
  for (const key of Object.keys(value)) {
    const entry = (value as Readonly<Record<string, unknown>>)[key]
    // As an entry of an object, undefined means absent, and absent it will be.
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

/** JSON keeps it as it is. */
function isSimple(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
}

/** What an object says it is as JSON, such as a Date. One without a time says null, which is not what it was. */
function findFaultInJson(
  value: { toJSON: () => unknown },
  above: readonly object[],
): PayloadFault | undefined {
  const json = value.toJSON()
  if (json === null) return { path: [], problem: "it has no value, as an invalid Date" }
  return findFault(json, [...above, value])
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return "toJSON" in value && typeof value.toJSON === "function"
}
