/** Random valid cron expressions of every kind. */
import fc from "fast-check"
import type { Dialect } from "../../src/time/cron-expression.ts"

const star = fc.constant("*")

export interface GeneratedCron {
  readonly text: string
  readonly dialect: Dialect
}

/** Any dialect, any number of fields, every construct. Expressions that never fire are among them. */
export const anyCron: fc.Arbitrary<GeneratedCron> = fc
  .constantFrom<Dialect>("posix", "vixie", "extended", "extended", "extended")
  .chain((dialect) => cronOf(dialect))

/** Often enough that a window of days holds some: only the time of day and the weekday are restricted. */
export const frequentCron: fc.Arbitrary<GeneratedCron> = fc
  .tuple(minutes("extended"), hours("extended"), weekdays("extended"), fc.boolean())
  .map(([minute, hour, weekday, everyDay]) => ({
    text: `${minute} ${hour} * * ${everyDay ? "*" : weekday}`,
    dialect: "extended" as const,
  }))

function cronOf(dialect: Dialect): fc.Arbitrary<GeneratedCron> {
  const five = fc.tuple(
    minutes(dialect),
    hours(dialect),
    monthDays(dialect),
    months(dialect),
    weekdays(dialect),
  )
  const text =
    dialect === "extended"
      ? fc.tuple(fc.option(seconds, { freq: 3 }), five, fc.option(years, { freq: 6 })).map(join)
      : five.map((fields) => fields.join(" "))
  return text.map((words) => ({ text: words, dialect }))
}

function join([second, five, year]: [string | null, string[], string | null]): string {
  if (year !== null) return [second ?? "0", ...five, year].join(" ")
  return second === null ? five.join(" ") : [second, ...five].join(" ")
}

/** Few, because each costs the oracle a look per second. */
const seconds = fc.oneof(
  fc.constant("0"),
  fc.integer({ min: 0, max: 59 }).map(String),
  fc.constantFrom("*/30", "15,45", "0-2", "50/5", "*/20"),
)
const years = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("*", "1970-2199", "*/2", "1970-2100/3", "2000-2199") },
  { weight: 1, arbitrary: fc.integer({ min: 1970, max: 2199 }).map(String) },
)

function minutes(dialect: Dialect): fc.Arbitrary<string> {
  return fieldOf(dialect, { min: 0, max: 59 }, fc.constantFrom("0", "30", "15", "59", "0,30", "1"))
}

function hours(dialect: Dialect): fc.Arbitrary<string> {
  const usual = fc.constantFrom("*", "0-23", "0", "1", "2", "3", "1-3", "0,2", "23", "0-22")
  const stepped = fc.constantFrom("*/2", "*/3", "0-23/1", "*/1")
  return fieldOf(dialect, { min: 0, max: 23 }, dialect === "posix" ? usual : fc.oneof(usual, stepped))
}

function months(dialect: Dialect): fc.Arbitrary<string> {
  const named = fc.constantFrom("jan", "FEB", "Mar-nov", "sep,OCT", "*/3")
  const any = fieldOf(dialect, { min: 1, max: 12 }, dialect === "posix" ? fc.constant("2") : named)
  return fc.oneof({ weight: 4, arbitrary: fc.constant("*") }, { weight: 1, arbitrary: any })
}

function monthDays(dialect: Dialect): fc.Arbitrary<string> {
  const plain = fieldOf(dialect, { min: 1, max: 31 }, fc.constantFrom("1", "31", "29", "13", "1-31"))
  if (dialect !== "extended") return fc.oneof(star, plain)
  const day = fc.integer({ min: 1, max: 31 })
  const rule = fc.oneof(
    fc.constantFrom("L", "l", "LW", "1W", "31W", "30w", "L-1W"),
    day.map((n) => `${n}W`),
    fc.integer({ min: 0, max: 30 }).map((n) => `L-${n}`),
    fc.integer({ min: 0, max: 30 }).map((n) => `L-${n}W`),
  )
  return fc.oneof(star, star, fc.constant("?"), plain, listOf(fc.oneof(rule, rule, day.map(String))))
}

function weekdays(dialect: Dialect): fc.Arbitrary<string> {
  const digits = fieldOf("posix", { min: 0, max: 6 }, fc.constantFrom("1-5", "0", "6"))
  if (dialect === "posix") return fc.oneof(star, digits)
  const named = fc.constantFrom(
    "mon-fri",
    "SUN",
    "fri-sun",
    "5-0",
    "7",
    "0-7",
    "1-7/2",
    "*/2",
    "sat,sun",
    "3-0/2",
  )
  if (dialect === "vixie") return fc.oneof(star, digits, named, listOf(named))
  const weekday = fc.constantFrom("0", "1", "2", "3", "4", "5", "6", "7", "mon", "Sun")
  const rule = fc.oneof(
    fc
      .tuple(weekday, fc.constantFrom("1", "2", "3", "4", "5", "L", "l"))
      .map(([day, nth]) => `${day}#${nth}`),
    fc.tuple(weekday, fc.constantFrom("L", "l")).map(([day, last]) => `${day}${last}`),
  )
  const any = fc.oneof(digits, named, rule, listOf(fc.oneof(rule, named)), fc.constantFrom("2/2", "1/3"))
  return fc.oneof(
    star,
    star,
    fc.constant("?"),
    any,
    any.map((list) => `+${list}`),
  )
}

/** A star, or a list of values, ranges and the steps of the dialect. */
function fieldOf(
  dialect: Dialect,
  { min, max }: { readonly min: number; readonly max: number },
  usual: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: max - min })
  const plain = fc.oneof(value.map(String), range)
  const stepped = fc.oneof(
    step.map((n) => `*/${n}`),
    fc.tuple(range, step).map(([base, n]) => `${base}/${n}`),
  )
  const opened = fc.tuple(value, step).map(([base, n]) => `${base}/${n}`)
  const items = { posix: plain, vixie: fc.oneof(plain, stepped), extended: fc.oneof(plain, stepped, opened) }
  return fc.oneof(star, usual, usual, listOf(items[dialect]))
}

function listOf(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(","))
}
