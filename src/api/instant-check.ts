/** Checks a `Date` that becomes a bound in the database. */
import { type Check, date, expected } from "../options/check.ts"

const YEAR_10000_MS = 253_402_300_800_000

/** The years that four digits can name. */
export const instantCheck: Check = (value, path) => {
  const faults = date(value, path)
  if (faults.length > 0) return faults
  const ms = (value as Date).getTime()
  return ms >= 0 && ms < YEAR_10000_MS
    ? []
    : [expected("a Date between the years 1970 and 9999", value, path)]
}
