/**
 * Validates options and reports every fault at once.
 *
 * A check is a pure function from a value to its faults. Object checks know the valid keys, so a misspelt key gets a
 * "did you mean" hint.
 */
import type { Fault } from "../errors.ts"
import { OptionsError } from "../errors.ts"
import { parseDuration } from "../time/duration.ts"
import { isDate } from "../time/instant.ts"
import { meantOption, nearest } from "./nearest.ts"

/** Returns the faults of `value`. `path` is its place in the options. */
export type Check = (value: unknown, path: string) => Fault[]

/** Throws an `OptionsError` with every fault that `check` finds. */
export function assertOptions(subject: string, value: unknown, check: Check): void {
  const faults = check(value, "")
  if (faults.length > 0) throw new OptionsError(subject, faults)
}

/** A plain object with the keys of `shape`. Only keys marked `optional` may be missing. */
export function object(shape: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isPlainObject(value)) return [expected("a plain object", value, path)]
    const unknown = Object.keys(value)
      .filter((key) => !Object.hasOwn(shape, key))
      .map((key) => unknownKey(key, Object.keys(shape), path))
    const wrong = Object.entries(shape).flatMap(([key, check]) => check(value[key], join(path, key)))
    return [...unknown, ...wrong]
  }
}

/** An object with any number of keys. `key` checks each key, `check` each value. */
export function record(key: Check, check: Check): Check {
  return (value, path) => {
    if (!isPlainObject(value)) return [expected("an object", value, path)]
    return Object.entries(value).flatMap(([name, entry]) => [
      ...key(name, join(path, name)),
      ...check(entry, join(path, name)),
    ])
  }
}

export function array(check: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((entry, index) => check(entry, `${path}[${index}]`))
      : [expected("an array", value, path)]
}

/** Accepts `undefined`: the option has a default. */
export function optional(check: Check): Check {
  return (value, path) => (value === undefined ? [] : check(value, path))
}

/** Applies the check of the first kind whose `is` accepts the value. */
export function either(
  kinds: readonly { readonly is: (value: unknown) => boolean; readonly check: Check }[],
  otherwise: string,
): Check {
  return (value, path) => {
    const kind = kinds.find(({ is }) => is(value))
    return kind ? kind.check(value, path) : [expected(otherwise, value, path)]
  }
}

export function oneOf(...words: readonly string[]): Check {
  return (value, path) => {
    if (words.includes(value as string)) return []
    const meant = typeof value === "string" ? nearest(value, words) : undefined
    const list = words.map((word) => `"${word}"`).join(" or ")
    return [expected(meant ? `${list}; did you mean "${meant}"?` : list, value, path)]
  }
}

export function integer(range: { readonly min: number; readonly max: number }): Check {
  return (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= range.min && (value as number) <= range.max
      ? []
      : [expected(`a whole number from ${range.min} to ${range.max}`, value, path)]
}

export function number(range: { readonly min: number; readonly max: number }): Check {
  return (value, path) =>
    typeof value === "number" && value >= range.min && value <= range.max
      ? []
      : [expected(`a number from ${range.min} to ${range.max}`, value, path)]
}

export function duration(range: { readonly min: number; readonly max?: number } = { min: 0 }): Check {
  return (value, path) => {
    const ms = parseDuration(value)
    if (ms === undefined)
      return [expected('milliseconds or a text like "250ms", "30s", "5m", "1.5h", "7d"', value, path)]
    if (ms < range.min) return [expected(`at least ${range.min} ms`, value, path)]
    if (range.max !== undefined && ms > range.max) return [expected(`at most ${range.max} ms`, value, path)]
    return []
  }
}

export const date: Check = (value, path) => (isDate(value) ? [] : [expected("a valid Date", value, path)])

/** A name that is safe in logs, URLs and channel names. */
export function name(maxLength: number): Check {
  return (value, path) => {
    if (typeof value !== "string" || value === "") return [expected("a non-empty text", value, path)]
    if (value.length > maxLength) return [expected(`at most ${maxLength} characters`, value, path)]
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._:/-]*$/u.test(value)) {
      return [expected('letters, digits and any of "._:/-", beginning with a letter or digit', value, path)]
    }
    return []
  }
}

/** Any value that `is` accepts. `what` describes it in the error message. */
export function satisfies(what: string, is: (value: unknown) => boolean): Check {
  return (value, path) => (is(value) ? [] : [expected(what, value, path)])
}

export const callable: Check = satisfies("a function", (value) => typeof value === "function")

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function expected(what: string, value: unknown, path: string): Fault {
  return { path: path || "(options)", message: `expected ${what}, got ${describe(value)}` }
}

function unknownKey(key: string, known: readonly string[], path: string): Fault {
  if (key.length > LONGEST_KEY) return { path, message: `unknown option of ${key.length} characters` }
  const word = meantOption(key, known)
  const hint = word ? `did you mean "${word}"?` : `use one of ${known.map((word) => `"${word}"`).join(", ")}`
  return { path: join(path, key), message: `unknown option; ${hint}` }
}

/** No option has a longer name, so a hint would be useless. */
const LONGEST_KEY = 200

function join(path: string, key: string): string {
  const step = /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  return path === "" ? step.replace(/^\./, "") : path + step
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (typeof value === "string") return describeText(value)
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
    return String(value)
  if (Array.isArray(value)) return "an array"
  if (isDate(value)) return "a Date"
  return typeof value === "object"
    ? isPlainObject(value)
      ? "an object"
      : "an instance of a class"
    : `a ${typeof value}`
}

/** Shortens a text and removes the user and password of a URL. */
function describeText(text: string): string {
  const from = text.indexOf("://")
  const to = text.lastIndexOf("@")
  const safe = from >= 0 && to > from ? `${text.slice(0, from)}://…${text.slice(to)}` : text
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe)
}
