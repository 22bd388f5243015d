/** Filters, objects and runs as chance makes them: small worlds, so that filters and runs meet. */
import fc from "fast-check"
import { FIELD_NAMES, type Field, type FilteredRun, fieldOf, KINDS } from "../../src/filter/fields.ts"
import { filterOf, type Moment, type Pattern, type Term, type Test } from "../../src/filter/filter.ts"
import type { RunFilter } from "../../src/filter/run-filter.ts"
import { STATES } from "../../src/filter/values.ts"
import type { RunState } from "../../src/queue/run-state.ts"

export const NOW = Date.parse("2026-03-01T12:00Z")
const HOUR = 3_600_000
const IDS = ["01890a5d-ac96-774b-bcce-b302099a8057", "0195507f-1c00-7000-8000-000000000001"]

/** Words that look like syntax are among them. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "ab", "invoice.send", "true", "42", "-1h", "now") },
  {
    weight: 2,
    arbitrary: fc.constantFrom('a"b', "a,b", "a b", "a*", "\\", "=x", ":", "a\\", "\t", "ü", "😀"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }) },
)
const cleanText = text.filter((one) => !one.includes("\0") && one.isWellFormed())
const pathStep = fc.constantFrom("a", "b", "0", "-1", "a b", 'q"', "x.y", "ü", "=", "*", "\\")
const state = fc.constantFrom(...(STATES as RunState[]))
const whole = fc.integer({ min: -3, max: 3 })
const lengthMs = fc.constantFrom(0, 1, 999, 1_000, 90_000, 1.5 * HOUR)
const fromNow = fc.constantFrom(0, -HOUR, HOUR, -1, -90_000, 2 * HOUR)
const instant = fc.integer({ min: -3, max: 3 }).map((hours) => NOW + hours * HOUR)
const comparison = fc.constantFrom(">", ">=", "<", "<=" as const)
const number = fc.oneof(
  whole,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
)

function anyPatternOf(kind: Field["kind"]): fc.Arbitrary<Pattern> {
  if (kind === "state") return state.map((one) => ({ text: one, isPrefix: false }))
  if (kind === "id") return fc.constantFrom(...IDS).map((one) => ({ text: one, isPrefix: false }))
  const exact = cleanText.map((one) => ({ text: one, isPrefix: false }))
  return fc.oneof(
    exact,
    fc.oneof(fc.constant(""), cleanText).map((one) => ({ text: one, isPrefix: true })),
  )
}

const moment: fc.Arbitrary<Moment> = fc.oneof(
  instant.map((at) => ({ at })),
  fromNow.map((ms) => ({ fromNow: ms })),
)

function testOf(kind: Field["kind"]): fc.Arbitrary<Test> {
  const some = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: 1, maxLength: 3 })
  const words = some(anyPatternOf(kind)).map((any): Test => ({ is: "words", any }))
  const compare = (value: fc.Arbitrary<number>) =>
    fc.record({ is: fc.constant("compare" as const), by: comparison, value })
  if (kind === "whole") {
    return fc.oneof(
      some(whole).map((any): Test => ({ is: "numbers", any })),
      compare(whole),
    )
  }
  if (kind === "moment") return fc.record({ is: fc.constant("time" as const), by: comparison, value: moment })
  if (kind === "length") return compare(lengthMs)
  return kind === "json" ? fc.oneof(words, compare(number)) : words
}

const term: fc.Arbitrary<Term> = fc.constantFrom(...FIELD_NAMES).chain((field) =>
  fc.record({
    field: fc.constant(field),
    not: fc.boolean(),
    test: testOf(fieldOf(field).kind),
    ...(field === "input" && { path: fc.array(pathStep, { minLength: 1, maxLength: 3 }) }),
  }),
)

export const filters = fc.array(term, { maxLength: 5 }).map(filterOf)

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(cleanText, whole, fc.boolean(), fc.constant(null), fc.constantFrom(0.5, 1e21, 1e-7)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(pathStep, tie("value"), { maxKeys: 3 }),
  ),
})).value

const maybe = <T>(each: fc.Arbitrary<T>) => fc.option(each, { nil: undefined })
const date = fc.tuple(instant, fc.constantFrom(0, 1, -1, HOUR / 2)).map(([at, more]) => new Date(at + more))

export const runs: fc.Arbitrary<FilteredRun> = fc
  .record({
    id: fc.constantFrom(...IDS, "0195507f-1c00-7000-8000-000000000002"),
    state,
    job: cleanText,
    pool: cleanText,
    priority: whole,
    attempt: whole,
    enqueuedAt: date,
    dueAt: date,
    tenant: maybe(cleanText),
    tags: maybe(fc.array(cleanText, { maxLength: 3 })),
    key: maybe(cleanText),
    input: json,
    error: maybe(fc.record({ code: cleanText, fingerprint: cleanText })),
    schedule: maybe(fc.record({ id: fc.constantFrom(...IDS), name: cleanText })),
    worker: maybe(cleanText),
    startedAt: maybe(date),
    finishedAt: maybe(date),
    durationMs: maybe(lengthMs),
  })
  .map((run) => Object.fromEntries(Object.entries(run).filter(([, value]) => value !== undefined)) as never)

/** Every value of a word as an object writes it. */
function patternOf(kind: Field["kind"]) {
  return anyPatternOf(kind).map(({ text: one, isPrefix }) => {
    if (isPrefix) return `${one}*`
    return one.endsWith("*") ? { exactly: one } : one
  })
}

const timeRange = fc.dictionary(
  fc.constantFrom("after", "from", "before", "until"),
  fc.oneof(
    instant.map((at) => new Date(at)),
    fc.constantFrom("-1h", "now", "+90s", "2026-03-01", "2026-03-01T13:00+01:00"),
  ),
  { minKeys: 1 },
)
const rangeOf = (each: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.constantFrom("above", "atLeast", "below", "atMost"), each, { minKeys: 1 })

function memberValue(kind: Field["kind"]): fc.Arbitrary<unknown> {
  if (kind === "moment") return timeRange
  if (kind === "length") return rangeOf(fc.oneof(lengthMs, fc.constantFrom("5s", "1.5h")))
  const one =
    kind === "whole"
      ? whole
      : kind === "json"
        ? fc.oneof(patternOf(kind), number, fc.boolean())
        : patternOf(kind)
  const oneOf = fc.oneof<fc.Arbitrary<unknown>[]>(one, fc.array(one, { minLength: 1, maxLength: 3 }))
  const isAndNot = fc.record({ is: oneOf, not: oneOf }, { requiredKeys: ["not"] })
  const ranges = (KINDS[kind].operators as readonly string[]).includes(">")
    ? [rangeOf(kind === "json" ? number : whole)]
    : []
  return fc.oneof(oneOf, isAndNot, ...ranges)
}

const inputKey = fc
  .array(pathStep, { minLength: 1, maxLength: 3 })
  .map((steps) => steps.map((step) => `"${step.replace(/["\\]/g, "\\$&")}"`).join("."))

const member = fc.constantFrom(...FIELD_NAMES).chain((field) => {
  const value = memberValue(fieldOf(field).kind)
  return (field === "input" ? fc.dictionary(inputKey, value, { maxKeys: 2 }) : value).map(
    (one) => [field, one] as const,
  )
})
const flat = fc.array(member, { maxLength: 4 }).map((members) => Object.fromEntries(members))

export const objects = fc
  .tuple(flat, fc.option(fc.array(flat, { maxLength: 2 }), { nil: undefined }))
  .map(([one, and]) => (and ? { ...one, and } : one) as RunFilter)
