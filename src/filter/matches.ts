/** Does a run match a filter? Live tails ask this of each run, and tests hold the database's answers against it. */
import { isDate } from "../time/instant.ts"
import { type Comparison, type FilteredRun, fieldOf, type RunPath } from "./fields.ts"
import { type Filter, instantOf, type Pattern, type Term } from "./filter.ts"

/** `nowMs` is the moment that relative times are counted from. */
export function matches(filter: Filter, run: FilteredRun, nowMs: number): boolean {
  return filter.terms.every((term) => holds(term, run, nowMs) !== term.not)
}

function holds({ field, path, test }: Term, run: FilteredRun, nowMs: number): boolean {
  const values = path
    ? [isReadable(run.input) ? valueInside(run.input, path) : undefined]
    : fieldOf(field).reads.flatMap((from) => valuesAt(run, from))
  return values.some((value) => {
    if (test.is === "words") {
      const text = textOf(value)
      return text !== undefined && test.any.some((word) => isWord(text, word))
    }
    if (typeof value !== "number") return false
    if (test.is === "numbers") return test.any.includes(value)
    return compares(value, test.by, test.is === "time" ? instantOf(test.value, nowMs) : test.value)
  })
}

/** Texts as they are, numbers and booleans as JSON writes them. Nothing else has a text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined
}

function isWord(text: string, word: Pattern): boolean {
  return word.isPrefix ? text.startsWith(word.text) : text === word.text
}

function compares(value: number, by: Comparison, bound: number): boolean {
  if (by === ">") return value > bound
  if (by === ">=") return value >= bound
  return by === "<" ? value < bound : value <= bound
}

/** An array has many values, an absent member none, and a Date is its milliseconds. */
function valuesAt(run: FilteredRun, path: RunPath): unknown[] {
  const found = path.split(".").reduce<unknown>((value, step) => memberOf(value, step), run)
  if (found === undefined) return []
  if (isDate(found)) return [found.getTime()]
  return Array.isArray(found) ? found : [found]
}

/**
 * The database can compare no text with a NUL or half a character in it, and reads no input that has one. So such an
 * input has no values here either.
 */
function isReadable(input: unknown): boolean {
  const text = JSON.stringify(input) ?? ""
  return !text.includes("\\u0000") && !text.includes("\\ud")
}

/** As PostgreSQL's `#>>` goes: a number is an element of an array, from its end when it is negative. */
function valueInside(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (!Array.isArray(value)) return memberOf(value, step)
    return /^[+-]?\d{1,9}$/.test(step) ? value.at(Number(step)) : undefined
  }, input)
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
