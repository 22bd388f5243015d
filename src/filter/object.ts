/** Reads a filter that is an object. What is wrong is refused with its path, all faults at once. */
import { type Fault, FilterError } from "../errors.ts"
import { isPlainObject } from "../options/check.ts"
import { nearest } from "../options/nearest.ts"
import { parseDuration } from "../time/duration.ts"
import { isDate } from "../time/instant.ts"
import { type Comparison, type FieldName, fieldOf, isFieldName, KINDS, type KindName } from "./fields.ts"
import { type Filter, filterOf, type Pattern, type Term, type Test } from "./filter.ts"
import { MOST_TERMS, parseFilter, pathFault, unknownField } from "./parse.ts"
import type { RunFilter } from "./run-filter.ts"
import { scanTerms } from "./tokens.ts"
import { inRange, isLength, type Reading, readMoment, readNumber, readWord, shown } from "./values.ts"

const MOST_FAULTS = 20
const DEEPEST = 10

/** A filter in either form. Nothing is a filter that every run matches. */
export function readFilter(filter: RunFilter | string | undefined): Filter {
  if (filter === undefined) return filterOf([])
  return typeof filter === "string" ? parseFilter(filter) : readObject(filter)
}

function readObject(filter: RunFilter): Filter {
  const faults: Fault[] = []
  const terms = readMembers(filter, { at: "", depth: 0, faults })
  if (terms.length > MOST_TERMS) {
    faults.push({ path: "filter", message: `expected at most ${MOST_TERMS} terms, got ${terms.length}` })
  }
  if (faults.length > 0) throw new FilterError("(an object)", faults.slice(0, MOST_FAULTS))
  return filterOf(terms)
}

interface Place {
  readonly at: string
  readonly depth: number
  readonly faults: Fault[]
}

function readMembers(filter: unknown, place: Place): Term[] {
  const { at, depth, faults } = place
  const refuse = (path: string, message: string) => {
    if (faults.length < MOST_FAULTS) faults.push({ path, message })
    return []
  }
  if (!isPlainObject(filter))
    return refuse(at || "filter", `expected an object or a text, got ${shown(filter)}`)
  if (depth > DEEPEST) return refuse(at, `expected at most ${DEEPEST} levels of \`and\``)
  return Object.entries(filter).flatMap(([key, value]) => {
    if (value === undefined) return []
    const path = at === "" ? key.slice(0, 100) : `${at}.${key.slice(0, 100)}`
    if (key === "and") {
      if (!Array.isArray(value)) return refuse(path, `expected an array of filters, got ${shown(value)}`)
      return value.flatMap((each, index) =>
        readMembers(each, { at: `${path}[${index}]`, depth: depth + 1, faults }),
      )
    }
    if (!isFieldName(key)) return refuse(path, unknownField(key))
    if (key === "input") return readInput(value, path, refuse)
    return readField({ field: key }, value, path, refuse)
  })
}

type Refuse = (path: string, message: string) => never[]
type Target = { readonly field: FieldName; readonly path?: readonly string[] }

/** The keys are paths, written as in a text. */
function readInput(value: unknown, at: string, refuse: Refuse): Term[] {
  if (!isPlainObject(value)) return refuse(at, `expected an object of paths and values, got ${shown(value)}`)
  return Object.entries(value).flatMap(([key, each]) => {
    if (each === undefined) return []
    const here = `${at}[${JSON.stringify(key.slice(0, 100))}]`
    const { terms, faults } = scanTerms(`input.${key}=x`)
    const [, ...path] = terms[0]?.steps ?? []
    const wrong = faults[0]?.message ?? (terms.length === 1 ? pathFault("input", path) : undefined)
    const isWhole = terms[0]?.name === `input.${key}`
    if (wrong !== undefined) return refuse(here, wrong)
    if (!isWhole) return refuse(here, "a step with other characters stands in quotes, as in '\"a b\".c'")
    return readField({ field: "input", path }, each, here, refuse)
  })
}

/** Bounds by their names, for numbers and for times. */
const BOUNDS: Readonly<Record<string, Comparison>> = { above: ">", atLeast: ">=", below: "<", atMost: "<=" }
const TIME_BOUNDS: Readonly<Record<string, Comparison>> = { after: ">", from: ">=", before: "<", until: "<=" }

function readField(target: Target, value: unknown, at: string, refuse: Refuse): Term[] {
  const { kind } = fieldOf(target.field)
  const bounds = boundsOf(kind)
  const takesOneOf = (KINDS[kind].operators as readonly string[]).includes(":")
  if (!isPlainObject(value) || "exactly" in value) {
    if (!takesOneOf)
      return refuse(at, `expected an object with ${Object.keys(bounds).join(", ")}, got ${shown(value)}`)
    return termOf(target, false, readOneOf(kind, value, at, refuse))
  }
  return Object.entries(value).flatMap(([key, each]) => {
    const here = `${at}.${key.slice(0, 100)}`
    if (each === undefined) return []
    if (Object.hasOwn(bounds, key)) return termOf(target, false, readBound(kind, key, each, here, refuse))
    if (key === "is" && takesOneOf) return termOf(target, false, readOneOf(kind, each, here, refuse))
    if (key !== "not") {
      const known = [...(takesOneOf ? ["is"] : []), "not", ...Object.keys(bounds)]
      const meant = nearest(key.slice(0, 100), known)
      return refuse(here, `unknown; ${meant ? `did you mean "${meant}"?` : `known are ${known.join(", ")}`}`)
    }
    if (!isPlainObject(each) || "exactly" in each) {
      if (takesOneOf) return termOf(target, true, readOneOf(kind, each, here, refuse))
    }
    return readNot(target, each, here, refuse)
  })
}

/** Of several bounds it would not be clear whether all of them or one of them must not hold. */
function readNot(target: Target, value: unknown, at: string, refuse: Refuse): Term[] {
  const { kind } = fieldOf(target.field)
  const bounds = Object.keys(boundsOf(kind))
  const entries = isPlainObject(value) ? Object.entries(value).filter(([, each]) => each !== undefined) : []
  const [[key, bound] = ["", undefined], second] = entries
  if (second || !bounds.includes(key))
    return refuse(at, `expected one of ${bounds.join(", ") || "the values"}`)
  return termOf(target, true, readBound(kind, key, bound, `${at}.${key}`, refuse))
}

function boundsOf(kind: KindName): Readonly<Record<string, Comparison>> {
  if (kind === "moment") return TIME_BOUNDS
  return (KINDS[kind].operators as readonly string[]).includes(">") ? BOUNDS : {}
}

function termOf(target: Target, not: boolean, test: Test | undefined): Term[] {
  return test ? [{ ...target, not, test }] : []
}

function readOneOf(kind: KindName, value: unknown, at: string, refuse: Refuse): Test | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const place = (index: number) => (Array.isArray(value) ? `${at}[${index}]` : at)
  if (values.length === 0) {
    refuse(at, "expected at least one value; no run would match an empty list")
    return undefined
  }
  const read = <T>(reader: (each: unknown) => Reading<T>): T[] =>
    values.flatMap((each, index) => {
      const reading = reader(each)
      return "value" in reading ? [reading.value] : refuse(place(index), reading.wrong)
    })
  if (kind === "whole") {
    const numbers = read((each) => readWhole(each))
    return numbers.length < values.length ? undefined : { is: "numbers", any: numbers }
  }
  const words = read((each) => readPattern(kind, each))
  return words.length < values.length ? undefined : { is: "words", any: words }
}

function readWhole(value: unknown): Reading<number> {
  return typeof value === "number"
    ? readNumber("whole", String(value))
    : { wrong: `expected a number, got ${shown(value)}` }
}

function readPattern(kind: KindName, value: unknown): Reading<Pattern> {
  if (kind === "json" && (typeof value === "boolean" || Number.isFinite(value))) {
    return readWord(kind, JSON.stringify(value), false)
  }
  if (isPlainObject(value) && typeof value["exactly"] === "string")
    return readWord(kind, value["exactly"], false)
  if (typeof value !== "string") return { wrong: `expected ${KINDS[kind].takes}, got ${shown(value)}` }
  const isPrefix = KINDS[kind].takesPrefix && value.endsWith("*")
  return readWord(kind, isPrefix ? value.slice(0, -1) : value, isPrefix)
}

function readBound(
  kind: KindName,
  key: string,
  value: unknown,
  at: string,
  refuse: Refuse,
): Test | undefined {
  const by = boundsOf(kind)[key] as Comparison
  const wrong = (message: string): undefined => {
    refuse(at, message)
    return undefined
  }
  if (kind === "moment") {
    const reading = readTime(value)
    return "value" in reading ? { is: "time", by, value: reading.value } : wrong(reading.wrong)
  }
  const reading = kind === "length" ? readLength(value) : readCompared(kind, value)
  return "value" in reading ? { is: "compare", by, value: reading.value } : wrong(reading.wrong)
}

function readTime(value: unknown) {
  if (isDate(value)) return inRange(value.getTime(), value.toISOString())
  return typeof value === "string"
    ? readMoment(value)
    : { wrong: `expected a Date or a text, got ${shown(value)}` }
}

function readLength(value: unknown): Reading<number> {
  const ms = parseDuration(value)
  return ms !== undefined && isLength(ms)
    ? { value: ms }
    : { wrong: `expected a duration, got ${shown(value)}` }
}

function readCompared(kind: KindName, value: unknown): Reading<number> {
  return typeof value === "number"
    ? readNumber(kind, String(value))
    : { wrong: `expected a number, got ${shown(value)}` }
}
