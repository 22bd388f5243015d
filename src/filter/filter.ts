/** A filter as a value: terms that all have to hold. Text and objects are two ways to write one. */
import { type Comparison, FIELD_NAMES, type FieldName } from "./fields.ts"

export interface Filter {
  readonly terms: readonly Term[]
}

/** A term is true or false of every run: `not` turns it round, also for a run that lacks the field. */
export interface Term {
  readonly field: FieldName
  /** The way into the input, for the field `input`. */
  readonly path?: readonly string[]
  readonly not: boolean
  readonly test: Test
}

export type Test =
  | { readonly is: "words"; readonly any: readonly Pattern[] }
  | { readonly is: "numbers"; readonly any: readonly number[] }
  | { readonly is: "compare"; readonly by: Comparison; readonly value: number }
  | { readonly is: "time"; readonly by: Comparison; readonly value: Moment }

export interface Pattern {
  readonly text: string
  /** The value only has to begin with the text. */
  readonly isPrefix: boolean
}

/** An instant, or so long from the moment at which the filter is asked: `-1h` is an hour ago. */
export type Moment = { readonly at: number } | { readonly fromNow: number }

export const EVERYTHING: Filter = { terms: [] }

/** Two filters that say the same in another order are one filter: terms and values are sorted, repetitions dropped. */
export function filterOf(terms: readonly Term[]): Filter {
  const sorted = terms.map((term) => ({ ...term, test: sortedTest(term.test) }))
  const keyed = new Map(sorted.map((term) => [orderOf(term), term]))
  return { terms: [...keyed].sort(([one], [other]) => compareTexts(one, other)).map(([, term]) => term) }
}

/** Instants as milliseconds, read at the moment `nowMs`. */
export function instantOf(moment: Moment, nowMs: number): number {
  return "at" in moment ? moment.at : nowMs + moment.fromNow
}

function sortedTest(test: Test): Test {
  if (test.is === "words") {
    const keyed = new Map(test.any.map((word) => [`${word.text}\0${word.isPrefix}`, word]))
    return {
      ...test,
      any: [...keyed].sort(([one], [other]) => compareTexts(one, other)).map(([, word]) => word),
    }
  }
  if (test.is === "numbers") return { ...test, any: [...new Set(test.any)].sort((one, other) => one - other) }
  return test
}

/** In the order of the table of fields; those that are not negated first. */
function orderOf({ field, path, not, test }: Term): string {
  const place = String(FIELD_NAMES.indexOf(field)).padStart(2, "0")
  return JSON.stringify([place, path ?? [], not, test])
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
