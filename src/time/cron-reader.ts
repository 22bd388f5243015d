/** Parses one field of a cron expression and reports the exact position of a syntax error. */

import { CronError } from "../errors.ts"
import type { Dialect } from "./cron-expression.ts"
import type { FieldSpec } from "./cron-fields.ts"

/** The text of one field and its position in the expression. */
export interface FieldText {
  readonly text: string
  readonly start: number
}

/** The whole expression, for error messages, and its dialect. */
export interface Source {
  readonly text: string
  readonly dialect: Dialect
}

export function cronFault(
  source: Source,
  code: ConstructorParameters<typeof CronError>[0],
  position: number,
  problem: string,
  hint: string,
): CronError {
  return new CronError(code, { text: source.text, position, problem, hint })
}

/** Throws if the dialect lacks the syntax that `what` names. */
export function requireDialect(
  source: Source,
  wanted: "vixie" | "extended",
  position: number,
  what: string,
): void {
  const rank = { posix: 0, vixie: 1, extended: 2 } as const
  if (rank[source.dialect] >= rank[wanted]) return
  throw cronFault(
    source,
    "CRON_DIALECT",
    position,
    `${what} is not part of the ${source.dialect} dialect`,
    `Use \`dialect: "${wanted}"\`, or write it with digits, "*", "," and "-".`,
  )
}

/**
 * Splits a list into items with their positions, without duplicates. An empty item is an error. POSIX allows no star
 * inside a list.
 */
export function splitList(source: Source, field: FieldText): FieldText[] {
  const texts = field.text.split(",")
  const items = new Map<string, FieldText>()
  let start = field.start
  for (const text of texts) {
    if (text.startsWith("*") && texts.length > 1)
      requireDialect(source, "vixie", start, "A star inside a list")
    if (text === "")
      throw cronFault(source, "CRON_SYNTAX", start, "an empty item in a list", "Remove the comma.")
    if (!items.has(text)) items.set(text, { text, start })
    start += text.length + 1
  }
  return [...items.values()]
}

/** The numbers of one item: a star, a value or a range, with or without a step. */
export function readItem(source: Source, spec: FieldSpec, item: FieldText): number[] {
  const slash = item.text.indexOf("/")
  const base = slash < 0 ? item.text : item.text.slice(0, slash)
  const step =
    slash < 0
      ? 1
      : readStep(source, spec, { text: item.text.slice(slash + 1), start: item.start + slash + 1 })
  if (slash >= 0) requireDialect(source, "vixie", item.start + slash, "A step")
  const { from, to } = readRange(source, spec, { text: base, start: item.start }, slash >= 0)
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values
}

function readRange(
  source: Source,
  spec: FieldSpec,
  item: FieldText,
  stepped: boolean,
): { from: number; to: number } {
  const last = lastOf(spec)
  if (item.text === "*") return { from: spec.min, to: last }
  const dash = item.text.indexOf("-", 1)
  if (dash < 0) {
    const from = readValue(source, spec, item)
    if (stepped)
      requireDialect(source, "extended", item.start, `A step after a single value (${item.text}/n)`)
    return { from, to: stepped ? last : from }
  }
  const from = readValue(source, spec, { text: item.text.slice(0, dash), start: item.start })
  const end = { text: item.text.slice(dash + 1), start: item.start + dash + 1 }
  const to = readValue(source, spec, end)
  if (to >= from) return { from, to }
  // `fri-sun` and `5-0` end on the Sunday after the first day.
  if (spec.name === "day of week" && to === 0) {
    requireDialect(source, "vixie", end.start, "A range that ends in Sunday")
    return { from, to: 7 }
  }
  throw cronFault(
    source,
    "CRON_RANGE",
    item.start,
    `the range ${item.text} runs backwards`,
    backwardsHint(spec, from, to),
  )
}

/** The largest value of `*`. Weekday 7 equals 0, so the week ends at 6. */
function lastOf(spec: FieldSpec): number {
  return spec.name === "day of week" ? 6 : spec.max
}

function backwardsHint(spec: FieldSpec, from: number, to: number): string {
  const part = (a: number, b: number) => (a === b ? `${a}` : `${a}-${b}`)
  const last = lastOf(spec)
  // 7 is Sunday, the first day: the range begins at 0.
  if (from > last) return `Write it as ${part(spec.min, to)}.`
  return `Write it as two: ${part(from, last)},${part(spec.min, to)}.`
}

function withArticle(name: FieldSpec["name"]): string {
  return `${name === "hour" ? "an" : "a"} ${name}`
}

/** A number or a name. */
export function readValue(source: Source, spec: FieldSpec, item: FieldText): number {
  if (item.text === "")
    throw cronFault(
      source,
      "CRON_SYNTAX",
      item.start,
      `${withArticle(spec.name)} is missing`,
      rangeHint(spec),
    )
  const value = isDigits(item.text) ? Number(item.text) : readName(source, spec, item)
  // More than nine digits are out of range in every field.
  if (item.text.length > 9 || value < spec.min || value > spec.max) {
    throw cronFault(
      source,
      "CRON_RANGE",
      item.start,
      `${item.text} is not ${withArticle(spec.name)}`,
      rangeHint(spec),
    )
  }
  if (spec.name === "day of week" && value === 7) requireDialect(source, "vixie", item.start, "7 for Sunday")
  return value
}

function readName(source: Source, spec: FieldSpec, item: FieldText): number {
  const index = spec.names?.indexOf(item.text.toLowerCase()) ?? -1
  if (index < 0) {
    throw cronFault(
      source,
      "CRON_SYNTAX",
      item.start,
      `"${item.text}" is not ${withArticle(spec.name)}`,
      rangeHint(spec),
    )
  }
  requireDialect(source, "vixie", item.start, "A name")
  return index + (spec.firstNamed ?? 0)
}

function readStep(source: Source, spec: FieldSpec, item: FieldText): number {
  if (!isDigits(item.text)) {
    throw cronFault(source, "CRON_SYNTAX", item.start, "a step must be a number", 'Write it as in "*/15".')
  }
  const step = item.text.length > 9 ? Number.MAX_SAFE_INTEGER : Number(item.text)
  if (step === 0) {
    throw cronFault(
      source,
      "CRON_STEP",
      item.start,
      "a step of 0 never moves",
      `Use a step of 1 or more, or "*".`,
    )
  }
  if (step > lastOf(spec) - spec.min) {
    const problem = `a step of ${item.text} is wider than the ${spec.name} field`
    throw cronFault(source, "CRON_STEP", item.start, problem, stepHint(spec, step))
  }
  return step
}

/** A step of 90 minutes is an interval, so the hint suggests `every`. */
function stepHint(spec: FieldSpec, step: number): string {
  const unit = { second: "s", minute: "m", hour: "h" }[spec.name as string]
  return unit && step < 1_000_000
    ? `For an interval use \`every: "${step}${unit}"\`.`
    : `The largest is ${lastOf(spec) - spec.min}.`
}

function rangeHint(spec: FieldSpec): string {
  const names = spec.names ? ` or a name such as "${spec.names[1]}"` : ""
  return `${spec.name === "hour" ? "An" : "A"} ${spec.name} is a number from ${spec.min} to ${spec.max}${names}.`
}

export function isDigits(text: string): boolean {
  if (text === "") return false
  for (const char of text) if (char < "0" || char > "9") return false
  return true
}
