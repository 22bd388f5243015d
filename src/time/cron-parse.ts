/** Parses cron expressions. A syntax error names the position and a way to fix it. */
import { formatCron } from "./cron-canonical.ts"
import { readMonthDays, readWeekdays } from "./cron-day-fields.ts"
import type { CronDays, CronExpression, Dialect } from "./cron-expression.ts"
import type { FieldSpec } from "./cron-fields.ts"
import { HOUR, MINUTE, MONTH, NICKNAMES, SECOND, YEAR } from "./cron-fields.ts"
import { cronFault, type FieldText, readItem, requireDialect, type Source, splitList } from "./cron-reader.ts"
import { type NumberSet, numberSet } from "./number-set.ts"

/** No real schedule is longer. The limit keeps hostile input cheap to reject. */
const LONGEST_TEXT = 1_000

export function parseCron(text: string, dialect: Dialect = "extended"): CronExpression {
  const source: Source = { text, dialect }
  if (text.length > LONGEST_TEXT) {
    const problem = `${text.length} characters are too many; the limit is ${LONGEST_TEXT}`
    throw cronFault(source, "CRON_TOO_LONG", LONGEST_TEXT, problem, "Use ranges and steps instead of lists.")
  }
  const { timeZone, words } = takeZone(source, splitWords(text))
  const fields = expandNickname(source, words)
  const [second, minute, hour, monthDay, month, weekday, year] = arrange(source, fields)
  const monthDays = readMonthDays(source, monthDay)
  const weekdays = readWeekdays(source, weekday)
  const days: CronDays = {
    months: readSet(source, MONTH, month),
    years: year === undefined || year.text === "*" ? undefined : readSet(source, YEAR, year),
    monthDays: monthDays.days,
    monthDayRules: monthDays.rules,
    monthDayRestricted: monthDays.restricted,
    weekdays: weekdays.days,
    weekdayRules: weekdays.rules,
    weekdayRestricted: weekdays.restricted,
    both: weekdays.both,
  }
  const parsed = {
    seconds: second === undefined ? numberSet([0], 0, 59) : readSet(source, SECOND, second),
    minutes: readSet(source, MINUTE, minute),
    hours: readSet(source, HOUR, hour),
    days,
  }
  return { text, timeZone, ...parsed, canonical: formatCron(parsed) }
}

/** Splits the text at spaces and tabs. Each word keeps its position. */
function splitWords(text: string): FieldText[] {
  const words: FieldText[] = []
  let start = -1
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at]
    const isSpace = char === undefined || char === " " || char === "\t"
    if (!isSpace && start < 0) start = at
    if (isSpace && start >= 0) {
      words.push({ text: text.slice(start, at), start })
      start = -1
    }
  }
  return words
}

/** Splits off a `CRON_TZ=` or `TZ=` prefix. */
function takeZone(source: Source, words: FieldText[]): { timeZone: string | undefined; words: FieldText[] } {
  const [first, ...others] = words
  const equals = first?.text.indexOf("=") ?? -1
  if (first === undefined || equals < 0) return { timeZone: undefined, words }
  const name = first.text.slice(0, equals)
  if (name !== "CRON_TZ" && name !== "TZ") {
    throw cronFault(
      source,
      "CRON_SYNTAX",
      first.start,
      `unknown prefix ${name}=`,
      "Use CRON_TZ= or TZ=, or remove it.",
    )
  }
  requireDialect(source, "extended", first.start, `The prefix ${name}=`)
  return { timeZone: first.text.slice(equals + 1), words: others }
}

function expandNickname(source: Source, words: FieldText[]): FieldText[] {
  const [first, second] = words
  if (first === undefined || !first.text.startsWith("@")) return words
  const nickname = first.text.toLowerCase()
  if (nickname === "@reboot") {
    const hint = "Enqueue a run when your program starts."
    throw cronFault(source, "CRON_UNSUPPORTED", first.start, "@reboot is not a time", hint)
  }
  if (nickname === "@every") {
    const hint = `Use \`every: "${second?.text ?? "90m"}"\` instead of \`cron\`.`
    throw cronFault(
      source,
      "CRON_UNSUPPORTED",
      first.start,
      "@every is an interval, not a cron expression",
      hint,
    )
  }
  const expanded = Object.hasOwn(NICKNAMES, nickname) ? NICKNAMES[nickname] : undefined
  if (expanded === undefined) {
    const hint = `Use one of ${Object.keys(NICKNAMES).join(", ")}.`
    throw cronFault(source, "CRON_SYNTAX", first.start, `unknown nickname ${first.text}`, hint)
  }
  requireDialect(source, "vixie", first.start, "A nickname")
  if (second !== undefined) {
    throw cronFault(source, "CRON_FIELDS", second.start, `nothing may follow ${first.text}`, "Remove it.")
  }
  return splitWords(expanded).map(({ text }) => ({ text, start: first.start }))
}

type Fields = [
  second: FieldText | undefined,
  minute: FieldText,
  hour: FieldText,
  monthDay: FieldText,
  month: FieldText,
  weekday: FieldText,
  year: FieldText | undefined,
]

/** Six fields begin with seconds. Seven fields begin with seconds and end with years. */
function arrange(source: Source, fields: FieldText[]): Fields {
  const end = fields[5]?.start ?? source.text.length
  if (fields.length < 5 || fields.length > 7) {
    const hint = "Write: minute, hour, day of month, month, day of week."
    throw cronFault(source, "CRON_FIELDS", end, `${fields.length} fields instead of 5`, hint)
  }
  if (fields.length > 5) requireDialect(source, "extended", end, "A field for seconds or years")
  const withSecond = fields.length === 5 ? [undefined, ...fields] : fields
  return [...withSecond, ...(withSecond.length === 6 ? [undefined] : [])] as Fields
}

/** Cached, because most fields are a star. */
const STARS: ReadonlyMap<FieldSpec, NumberSet> = new Map(
  [SECOND, MINUTE, HOUR, MONTH].map((spec) => [spec, numberSet(valuesOf(spec), spec.min, spec.max)]),
)

function valuesOf({ min, max }: FieldSpec): number[] {
  return Array.from({ length: max - min + 1 }, (_, index) => min + index)
}

function readSet(source: Source, spec: FieldSpec, field: FieldText): NumberSet {
  const star = field.text === "*" ? STARS.get(spec) : undefined
  if (star !== undefined) return star
  const values = splitList(source, field).flatMap((item) => readItem(source, spec, item))
  return numberSet(values, spec.min, spec.max)
}
