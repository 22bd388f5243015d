/** Parses the two day fields of cron: plain days, and rules that depend on the month (`L`, `W`, `#`). */
import type { MonthDayRule, WeekdayRule } from "./cron-expression.ts"
import { MONTH_DAY, WEEKDAY } from "./cron-fields.ts"
import {
  cronFault,
  type FieldText,
  isDigits,
  readItem,
  readValue,
  requireDialect,
  type Source,
  splitList,
} from "./cron-reader.ts"
import { type NumberSet, numberSet } from "./number-set.ts"

export interface DayField<Rule> {
  readonly days: NumberSet
  readonly rules: readonly Rule[]
  /** Whether the field is anything but `*` or `?`. */
  readonly restricted: boolean
}

export function readMonthDays(source: Source, field: FieldText): DayField<MonthDayRule> {
  return readDays(source, field, {
    readRule: readMonthDayRule,
    readPlain: (item) => readItem(source, MONTH_DAY, item),
    min: 1,
    max: 31,
  })
}

export function readWeekdays(
  source: Source,
  field: FieldText,
): DayField<WeekdayRule> & { readonly both: boolean } {
  const both = field.text.startsWith("+")
  if (both) requireDialect(source, "extended", field.start, 'A "+" before the weekdays')
  const rest = both ? { text: field.text.slice(1), start: field.start + 1 } : field
  const read = readDays(source, rest, {
    readRule: readWeekdayRule,
    readPlain: (item) => readItem(source, WEEKDAY, item).map((weekday) => weekday % 7),
    min: 0,
    max: 6,
  })
  return { ...read, both }
}

function readDays<Rule>(
  source: Source,
  field: FieldText,
  kind: {
    readonly readRule: (source: Source, item: FieldText) => Rule | undefined
    readonly readPlain: (item: FieldText) => number[]
    readonly min: number
    readonly max: number
  },
): DayField<Rule> {
  if (field.text === "?") {
    requireDialect(source, "extended", field.start, 'A "?"')
    return readDays(source, { ...field, text: "*" }, kind)
  }
  const items = splitList(source, field)
  const rules: Rule[] = []
  const plain: number[] = []
  for (const item of items) {
    const rule = kind.readRule(source, item)
    if (rule === undefined) plain.push(...kind.readPlain(item))
    else rules.push(rule)
  }
  return { days: numberSet(plain, kind.min, kind.max), rules, restricted: field.text !== "*" }
}

/** `L`, `L-n`, `LW`, `L-nW`, `nW`. */
function readMonthDayRule(source: Source, item: FieldText): MonthDayRule | undefined {
  const text = item.text.toUpperCase()
  const nearest = text.endsWith("W")
  const base = nearest ? text.slice(0, -1) : text
  if (base.startsWith("L")) {
    requireDialect(source, "extended", item.start, '"L"')
    const before = readDaysBefore(source, { text: base.slice(1), start: item.start + 1 })
    return nearest ? { kind: "last-nearest-weekday", before } : { kind: "last", before }
  }
  if (!nearest) return undefined
  requireDialect(source, "extended", item.start, '"W"')
  if (!isDigits(base)) {
    throw cronFault(
      source,
      "CRON_SYNTAX",
      item.start,
      `"${item.text}" is not a day`,
      'Write one day before "W", as in 15W, or write LW.',
    )
  }
  return { kind: "nearest-weekday", day: readValue(source, MONTH_DAY, { text: base, start: item.start }) }
}

/** Parses the part after `L`: nothing, or how many days before the last day. */
function readDaysBefore(source: Source, item: FieldText): number {
  if (item.text === "") return 0
  const digits = item.text.slice(1)
  if (item.text.startsWith("-") && isDigits(digits) && Number(digits) <= 30) return Number(digits)
  throw cronFault(
    source,
    "CRON_SYNTAX",
    item.start,
    `"${item.text}" cannot follow L`,
    "Write L, or L-1 to L-30.",
  )
}

/** `d#n`, `d#L`, `dL`. */
function readWeekdayRule(source: Source, item: FieldText): WeekdayRule | undefined {
  const hash = item.text.indexOf("#")
  if (hash >= 0) return readNth(source, item, hash)
  if (!item.text.endsWith("L") && !item.text.endsWith("l")) return undefined
  if (item.text.length === 1) {
    const hint = "Write the weekday before it, as in 5L for the last Friday, or use L as the day of month."
    throw cronFault(source, "CRON_SYNTAX", item.start, "L alone is not a weekday", hint)
  }
  requireDialect(source, "extended", item.start, '"L"')
  const weekday = readValue(source, WEEKDAY, { text: item.text.slice(0, -1), start: item.start }) % 7
  return { kind: "last", weekday }
}

function readNth(source: Source, item: FieldText, hash: number): WeekdayRule {
  requireDialect(source, "extended", item.start + hash, '"#"')
  const weekday = readValue(source, WEEKDAY, { text: item.text.slice(0, hash), start: item.start }) % 7
  const which = item.text.slice(hash + 1).toUpperCase()
  if (which === "L") return { kind: "last", weekday }
  if (which.length === 1 && which >= "1" && which <= "5") return { kind: "nth", weekday, nth: Number(which) }
  const hint = "Write 1 to 5 after #, or L for the last."
  throw cronFault(
    source,
    "CRON_RANGE",
    item.start + hash + 1,
    `there is no weekday number ${which || "(nothing)"}`,
    hint,
  )
}
