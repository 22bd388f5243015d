/** Checks a schedule spec: each option alone, then combinations of options. */
import type { Fault } from "../errors.ts"
import {
  array,
  type Check,
  duration,
  either,
  expected,
  integer,
  isPlainObject,
  object,
  oneOf,
  optional,
  record,
  satisfies,
} from "../options/check.ts"
import { isDate, parseInstant } from "../time/instant.ts"
import { parseCivilDate, parseCivilDateTime, parseCivilTime } from "./civil-text.ts"

const KINDS = ["cron", "every", "at", "afterCompletion"] as const
const UNITS = ["days", "weeks", "months"] as const

const text = satisfies("a text", (value) => typeof value === "string")
const civilDate = satisfies('a date, as in "2026-12-25"', (value) => parseCivilDate(value) !== undefined)
const civilTime = satisfies(
  'a time, as in "09:00" or "09:00:30"',
  (value) => parseCivilTime(value) !== undefined,
)
const instant = satisfies(
  'a Date, or an ISO 8601 text with a zone, as in "2026-03-01T00:00Z"',
  (value) => isDate(value) || (typeof value === "string" && parseInstant(value) !== undefined),
)
const moment = satisfies(
  'a Date, or an ISO 8601 text, as in "2026-03-01T00:00Z" or, in the zone of the schedule, "2026-03-01T00:00"',
  (value) =>
    isDate(value) ||
    (typeof value === "string" &&
      (parseInstant(value) !== undefined || parseCivilDateTime(value) !== undefined)),
)
const dateRange: Check = (value, path) => [
  ...object({ from: civilDate, to: civilDate })(value, path),
  ...(isBackwards(value) ? [expected("`from` on or before `to`", value, path)] : []),
]
const isText = (value: unknown) => typeof value === "string"

const limits = {
  startAt: optional(instant),
  endAt: optional(instant),
  maxRuns: optional(integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
}
/** PostgreSQL's JSON functions reject documents with NUL or lone surrogates. */
const plainText = satisfies(
  "a text without NUL or lone surrogates",
  (value) => typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0"),
)

const exclusions = {
  exclude: optional(
    array(
      either(
        [
          { is: isText, check: plainText },
          { is: isPlainObject, check: dateRange },
        ],
        "a date, a range of dates, a cron expression or the name of a calendar",
      ),
    ),
  ),
  calendars: optional(
    record(
      plainText,
      array(
        either(
          [
            { is: isText, check: civilDate },
            { is: isPlainObject, check: dateRange },
          ],
          "a date or a range of dates",
        ),
      ),
    ),
  ),
  onExcluded: optional(oneOf("skip", "next-day", "previous-day")),
  jitter: optional(duration()),
  spread: optional(duration()),
}
const zoned = {
  timeZone: optional(text),
  dst: optional(
    object({
      gap: optional(oneOf("shift", "next", "skip")),
      fold: optional(oneOf("auto", "first", "both")),
    }),
  ),
}
const count = optional(integer({ min: 1, max: 10_000 }))

const everyCheck = either(
  [
    {
      is: (value) => typeof value === "string" || typeof value === "number",
      check: duration({ min: 1_000 }),
    },
    {
      is: isPlainObject,
      check: object({
        days: count,
        weeks: count,
        months: count,
        at: optional(civilTime),
        from: optional(civilDate),
      }),
    },
  ],
  'a duration such as "15m", or { days: 1, at: "09:00" }',
)

const shapes = {
  cron: {
    cron: text,
    dialect: optional(oneOf("posix", "vixie", "extended")),
    ...zoned,
    ...limits,
    ...exclusions,
  },
  every: {
    every: everyCheck,
    offset: optional(duration()),
    anchor: optional(oneOf("epoch", "start")),
    ...zoned,
    ...limits,
    ...exclusions,
  },
  at: { at: moment, ...zoned, ...exclusions },
  afterCompletion: { afterCompletion: duration({ min: 1 }), ...limits },
} as const

/** The check of a spec. `extra` adds options of the caller. */
export function specCheck(extra: Readonly<Record<string, Check>> = {}): Check {
  const checks = {
    cron: object({ ...shapes.cron, ...extra }),
    every: object({ ...shapes.every, ...extra }),
    at: object({ ...shapes.at, ...extra }),
    afterCompletion: object({ ...shapes.afterCompletion, ...extra }),
  }
  // Accepts every option of every kind with any value: finds the misspelt key of a spec without a kind.
  const known = Object.assign({}, ...Object.values(shapes), extra) as Record<string, Check>
  const anyKnown = object(Object.fromEntries(Object.keys(known).map((key) => [key, () => []])))
  return (value, path) => {
    if (!isPlainObject(value)) return [expected("an object", value, path)]
    const given = KINDS.filter((kind) => value[kind] !== undefined)
    const [kind] = given
    if (kind === undefined || given.length > 1) {
      const misspelt = anyKnown(value, path)
      if (misspelt.length > 0) return misspelt
      return [notOne(KINDS, given, path)]
    }
    return [...checks[kind](value, path), ...findContradictions(value)]
  }
}

/** Faults of combinations. */
function findContradictions(spec: Readonly<Record<string, unknown>>) {
  const faults = []
  const { every } = spec
  if (isPlainObject(every)) {
    const units = UNITS.filter((unit) => every[unit] !== undefined)
    if (units.length !== 1) faults.push(notOne(UNITS, units, "every"))
    if (units[0] !== "days" && every["from"] === undefined) {
      faults.push(expected("a date to count from, which also sets the day", undefined, "every.from"))
    }
    for (const key of ["offset", "anchor"]) {
      if (spec[key] !== undefined)
        faults.push(expected("nothing: calendar intervals have no offset", spec[key], key))
    }
  } else if (every !== undefined && spec["dst"] !== undefined) {
    faults.push(expected("nothing: clock changes do not affect elapsed time", spec["dst"], "dst"))
  }
  if (spec["anchor"] === "start" && spec["startAt"] === undefined) {
    faults.push(expected("a `startAt` to count from", undefined, "startAt"))
  }
  if (
    every !== undefined &&
    !isPlainObject(every) &&
    spec["onExcluded"] !== undefined &&
    spec["onExcluded"] !== "skip"
  ) {
    faults.push(
      expected(
        '"skip": an interval of elapsed time cannot move to another day',
        spec["onExcluded"],
        "onExcluded",
      ),
    )
  }
  return faults
}

/** The fault when not exactly one of several options is set. */
function notOne(of: readonly string[], given: readonly string[], path: string): Fault {
  const got = given.length === 0 ? "none of them" : listed(given)
  return { path: path || "(options)", message: `expected exactly one of ${listed(of)}, got ${got}` }
}

/** "`cron`, `every` and `at`". */
function listed(words: readonly string[]): string {
  const quoted = words.map((word) => `\`${word}\``)
  return [quoted.slice(0, -1).join(", "), ...quoted.slice(-1)].filter((part) => part !== "").join(" and ")
}

function isBackwards(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const from = parseCivilDate(value["from"])
  const to = parseCivilDate(value["to"])
  return from !== undefined && to !== undefined && to < from
}
