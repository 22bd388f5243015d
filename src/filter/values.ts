/** Reads one value of a field, as text and objects both write it. */
import { expected } from "../options/check.ts"
import { nearest } from "../options/nearest.ts"
import { RUN_LIFE } from "../queue/run-state.ts"
import { LONGEST_DURATION_MS, parseDuration } from "../time/duration.ts"
import { formatInstant, parseInstant } from "../time/instant.ts"
import { KINDS, type KindName } from "./fields.ts"
import type { Moment, Pattern } from "./filter.ts"

/** A value, or what is wrong with what was written. */
export type Reading<T> = { readonly value: T } | { readonly wrong: string }

export const STATES: readonly string[] = Object.keys(RUN_LIFE)
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const WORD_LENGTH = 1_000
/** The years from 1970 to 9999, which the database and ISO 8601 agree on. */
const LAST_INSTANT_MS = 253_402_300_799_999

export function readWord(kind: KindName, text: string, isPrefix: boolean): Reading<Pattern> {
  if (isPrefix && !KINDS[kind].takesPrefix) return refused(kind, `${text}*`)
  if (kind === "state") {
    if (STATES.includes(text)) return { value: { text, isPrefix } }
    const meant = nearest(text, STATES)
    const hint = meant ? `did you mean "${meant}"?` : `states are ${STATES.join(", ")}`
    return { wrong: `no run has the state ${shown(text)}; ${hint}` }
  }
  if (kind === "id") {
    const id = text.toLowerCase()
    return UUID.test(id) ? { value: { text: id, isPrefix } } : refused(kind, text)
  }
  if (text === "" && !isPrefix && kind !== "json") return { wrong: "expected a text that is not empty" }
  if (text.length > WORD_LENGTH) return { wrong: `expected at most ${WORD_LENGTH} characters` }
  if (!text.isWellFormed() || text.includes("\0")) {
    return { wrong: "expected a text without NUL and lone surrogates, which no run has" }
  }
  return { value: { text, isPrefix } }
}

/** A number to compare with: whole, except inside an input. */
export function readNumber(kind: KindName, text: string): Reading<number> {
  if (kind === "length") {
    const ms = /^\d+$/.test(text) ? undefined : parseDuration(text)
    return ms === undefined ? refused(kind, text) : { value: ms }
  }
  const form = kind === "json" ? /^-?\d{1,300}(\.\d{1,300})?(e[+-]?\d{1,3})?$/i : /^-?\d{1,15}$/
  const value = form.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) {
    return { wrong: kind === "json" ? `expected a number, got ${shown(text)}` : refusal(kind, text) }
  }
  return { value: value + 0 }
}

export function readMoment(text: string): Reading<Moment> {
  if (text === "now") return { value: { fromNow: 0 } }
  const relative = /^([+-])(.+)$/.exec(text)
  if (relative) {
    const ms = /^\d+$/.test(relative[2] ?? "") ? undefined : parseDuration(relative[2])
    if (ms !== undefined) return { value: { fromNow: relative[1] === "-" ? 0 - ms : ms } }
    return refused("moment", text)
  }
  const at = parseInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00Z` : text)
  if (at === undefined || !isDayOfMonth(text)) return refused("moment", text)
  return inRange(at, text)
}

export function inRange(at: number, text: string): Reading<Moment> {
  if (at < 0 || at > LAST_INSTANT_MS)
    return { wrong: `expected a time in the years 1970 to 9999, got ${shown(text)}` }
  return { value: { at } }
}

export function isLength(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= LONGEST_DURATION_MS
}

/** 30 February would be read as a day in March. */
function isDayOfMonth(text: string): boolean {
  const day = parseInstant(`${text.slice(0, 10)}T00:00Z`)
  return day !== undefined && formatInstant(day).startsWith(text.slice(0, 10))
}

function refused(kind: KindName, text: string): { readonly wrong: string } {
  return { wrong: refusal(kind, text) }
}

function refusal(kind: KindName, text: string): string {
  return `expected ${KINDS[kind].takes}, got ${shown(text)}`
}

export function shown(value: unknown): string {
  return expected("", value, "").message.replace(/^expected , got /, "")
}
