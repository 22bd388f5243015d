/** Writes a filter as text, in one way for each filter: read again, the text is the same filter. */
import { formatDuration } from "../time/duration.ts"
import { formatInstant } from "../time/instant.ts"
import { fieldOf, KINDS, type KindName } from "./fields.ts"
import type { Filter, Moment, Pattern, Term } from "./filter.ts"

export function printFilter({ terms }: Filter): string {
  return terms.map(printTerm).join(" ")
}

function printTerm({ field, path = [], not, test }: Term): string {
  const name = [field, ...path.map(printStep)].join(".")
  const { kind } = fieldOf(field)
  const start = `${not ? "-" : ""}${name}`
  if (test.is === "words") return `${start}${KINDS[kind].one}${test.any.map(printWord).join(",")}`
  if (test.is === "numbers") return `${start}${KINDS[kind].one}${test.any.join(",")}`
  return `${start}${test.by}${test.is === "time" ? printMoment(test.value) : printNumber(kind, test.value)}`
}

function printNumber(kind: KindName, value: number): string {
  return kind === "length" ? String(formatDuration(value)) : String(value)
}

function printMoment(moment: Moment): string {
  if ("at" in moment) return formatInstant(moment.at)
  if (moment.fromNow === 0) return "now"
  return `${moment.fromNow < 0 ? "-" : "+"}${formatDuration(Math.abs(moment.fromNow))}`
}

function printWord({ text, isPrefix }: Pattern): string {
  const isPlain = isPrefix && text === "" ? true : PLAIN_VALUE.test(text)
  return `${isPlain ? text : quoted(text)}${isPrefix ? "*" : ""}`
}

function printStep(step: string): string {
  return PLAIN_STEP.test(step) ? step : quoted(step)
}

const PLAIN_VALUE = /^[^\s",*\\]+$/
const PLAIN_STEP = /^[^\s".:=<>!\\]+$/

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`
}
