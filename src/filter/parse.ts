/** Reads the text of a filter. What is unknown or malformed is refused with its position, all faults at once. */
import { FilterError } from "../errors.ts"
import { nearest } from "../options/nearest.ts"
import { type Comparison, FIELD_NAMES, type FieldName, fieldOf, isFieldName, KINDS } from "./fields.ts"
import { type Filter, filterOf, type Term, type Test } from "./filter.ts"
import { clip, type RawTerm, type RawValue, scanTerms, type TextFault } from "./tokens.ts"
import { type Reading, readMoment, readNumber, readWord } from "./values.ts"

export const LONGEST_TEXT = 16_384
export const MOST_TERMS = 100
export const MOST_STEPS = 20
const MOST_FAULTS = 20

/** Throws a `FilterError`, or returns the filter. An empty text is a filter that every run matches. */
export function parseFilter(text: string): Filter {
  if (text.length > LONGEST_TEXT) throw errorOf(text, [tooLong(text)])
  return parsePrinted(text)
}

/** The same for a text that `printFilter` wrote. It may be longer: an object can name thousands of ids. */
export function parsePrinted(text: string): Filter {
  const scanned = scanTerms(text)
  const faults = [...scanned.faults]
  const terms = scanned.terms.flatMap((raw) => readTerm(raw, faults) ?? [])
  if (scanned.terms.length > MOST_TERMS) faults.push(tooMany(scanned.terms))
  if (faults.length > 0) throw errorOf(text, faults)
  return filterOf(terms)
}

function readTerm(raw: RawTerm, faults: TextFault[]): Term | undefined {
  const refuse = (position: number, message: string) => {
    faults.push({ position, field: clip(raw.name), message })
    return undefined
  }
  const [name = "", ...path] = raw.steps
  if (!isFieldName(name)) return refuse(raw.namePosition, unknownField(name))
  const wrongPath = pathFault(name, path)
  if (wrongPath !== undefined) return refuse(raw.namePosition, wrongPath)
  const operator = raw.operator === "=" ? ":" : raw.operator
  const kind = KINDS[fieldOf(name).kind]
  if (operator === "!=") {
    return refuse(
      raw.operatorPosition,
      `there is no "!=": a leading - is not, as in "-${clip(raw.name)}${kind.one}…"`,
    )
  }
  if (!(kind.operators as readonly string[]).includes(operator)) {
    return refuse(raw.operatorPosition, `${name} takes ${operatorsOf(name)}, not "${raw.operator}"`)
  }
  const test =
    operator === ":" ? readOneOf(name, raw.values, refuse) : readBound(name, operator, raw.values, refuse)
  return test && { field: name, ...(name === "input" && { path }), not: raw.not, test }
}

type Refuse = (position: number, message: string) => undefined

/** All of the values are read, so that all that is wrong with them is said. */
function readOneOf(name: FieldName, values: readonly RawValue[], refuse: Refuse): Test | undefined {
  const { kind } = fieldOf(name)
  if (kind === "whole") {
    const any = values.flatMap((value) => taken(wholeOf(value), value, refuse))
    return any.length < values.length ? undefined : { is: "numbers", any }
  }
  const any = values.flatMap((value) => taken(readWord(kind, value.text, value.isPrefix), value, refuse))
  return any.length < values.length ? undefined : { is: "words", any }
}

function readBound(
  name: FieldName,
  by: Comparison,
  values: readonly RawValue[],
  refuse: Refuse,
): Test | undefined {
  const { kind } = fieldOf(name)
  const [first, second] = values
  if (second) return refuse(second.position, `"${by}" takes one value`)
  if (!first) return undefined
  if (first.isPrefix) return refuse(first.position, `"${by}" takes no "*"`)
  if (kind === "moment") {
    const [value] = taken(readMoment(first.text), first, refuse)
    return value && { is: "time", by, value }
  }
  const [value] = taken(readNumber(kind, first.text), first, refuse)
  return value === undefined ? undefined : { is: "compare", by, value }
}

function wholeOf(value: RawValue): Reading<number> {
  return readNumber("whole", value.isPrefix ? `${value.text}*` : value.text)
}

function taken<T>(reading: Reading<T>, at: RawValue, refuse: Refuse): T[] {
  if ("value" in reading) return [reading.value]
  refuse(at.position, reading.wrong)
  return []
}

/** What is wrong with the way into the input, or with a way into what has no inside. */
export function pathFault(name: FieldName, path: readonly string[]): string | undefined {
  if (name !== "input") {
    return path.length > 0 ? `${name} has no parts; only input has, as in "input.customer.id=42"` : undefined
  }
  if (path.length === 0) return 'input is asked for a value inside it, as in "input.customer.id=42"'
  if (path.includes("")) return "a step of the path is empty: write the name of the member between the dots"
  if (path.length > MOST_STEPS) return `the path has more than ${MOST_STEPS} steps`
  if (!path.join().isWellFormed() || path.join().includes("\0"))
    return "the path has characters that no input has"
  return undefined
}

export function unknownField(name: string): string {
  const word = name.slice(0, 100)
  const meant =
    FIELD_NAMES.find((field) => fieldOf(field).elsewhere.includes(word)) ?? nearest(word, FIELD_NAMES)
  return `unknown field; ${meant ? `did you mean "${meant}"?` : `fields are ${FIELD_NAMES.join(", ")}`}`
}

export function operatorsOf(name: FieldName): string {
  const kind = KINDS[fieldOf(name).kind]
  return kind.operators.map((operator) => `"${operator === ":" ? kind.one : operator}"`).join(", ")
}

function tooLong(text: string): TextFault {
  return {
    position: LONGEST_TEXT,
    field: "filter",
    message: `expected at most ${LONGEST_TEXT} characters, got ${text.length}`,
  }
}

function tooMany(terms: readonly RawTerm[]): TextFault {
  const position = terms[MOST_TERMS]?.position ?? 0
  return { position, field: "filter", message: `expected at most ${MOST_TERMS} terms, got ${terms.length}` }
}

function errorOf(text: string, faults: readonly TextFault[]): FilterError {
  const ordered = [...faults].sort((one, other) => one.position - other.position).slice(0, MOST_FAULTS)
  return new FilterError(
    JSON.stringify(clip(text)),
    ordered.map(({ position, field, message }) => ({ path: field, message, position })),
  )
}
