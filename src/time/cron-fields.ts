/** The fields of cron: their names, value ranges and value names. */

export interface FieldSpec {
  readonly name: "second" | "minute" | "hour" | "day of month" | "month" | "day of week" | "year"
  readonly min: number
  readonly max: number
  /** Three-letter names. The first one stands for `firstNamed`. */
  readonly names?: readonly string[]
  readonly firstNamed?: number
}

export const SECOND: FieldSpec = { name: "second", min: 0, max: 59 }
export const MINUTE: FieldSpec = { name: "minute", min: 0, max: 59 }
export const HOUR: FieldSpec = { name: "hour", min: 0, max: 23 }
export const MONTH_DAY: FieldSpec = { name: "day of month", min: 1, max: 31 }
export const MONTH: FieldSpec = {
  name: "month",
  min: 1,
  max: 12,
  names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  firstNamed: 1,
}
/** 7 is Sunday too. The parser maps it to 0. */
export const WEEKDAY: FieldSpec = {
  name: "day of week",
  min: 0,
  max: 7,
  names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  firstNamed: 0,
}
export const YEAR: FieldSpec = { name: "year", min: 1970, max: 2199 }

export const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
}
