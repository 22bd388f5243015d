/** Describes the times of day of a cron expression in English. */
import type { CronExpression } from "../time/cron-expression.ts"
import type { NumberSet } from "../time/number-set.ts"
import { list, ordinal, runs, runWords, stepOver, twoDigits } from "./phrases.ts"

type Times = Pick<CronExpression, "seconds" | "minutes" | "hours">

/** Up to this many times of day are listed one by one. */
const MOST_TIMES = 6

export function timeWords(times: Times): string {
  if (hasFewTimes(times)) return `at ${list(allTimes(times), "and")}`
  const { seconds, minutes, hours } = times
  if (!hours.full && seconds.size === 1 && minutes.size === 1) return hourlyWords(times)
  const within = withinHour(seconds, minutes)
  return hours.full ? within : `${within}, ${hourWords(hours)}`
}

export function hasFewTimes({ seconds, minutes, hours }: Times): boolean {
  return hours.size * minutes.size * seconds.size <= MOST_TIMES
}

function allTimes({ seconds, minutes, hours }: Times): string[] {
  const withSeconds = !isZero(seconds)
  return hours.values.flatMap((hour) =>
    minutes.values.flatMap((minute) =>
      seconds.values.map((second) => {
        const clock = `${twoDigits(hour)}:${twoDigits(minute)}`
        return withSeconds ? `${clock}:${twoDigits(second)}` : clock
      }),
    ),
  )
}

/** One time in each of many hours: "every hour from 09:30 to 17:30", "every 2 hours from 00:00 to 22:00". */
function hourlyWords(times: Times): string {
  const clocks = allTimes(times)
  const clockOf = new Map(times.hours.values.map((hour, index) => [hour, clocks[index] ?? ""]))
  const step = stepOver(times.hours.values)
  if (step !== undefined && step > 1)
    return `every ${step} hours from ${clocks[0]} to ${clocks[clocks.length - 1]}`
  const parts = runs(times.hours.values).map(([from, to]) =>
    from === to
      ? `at ${clockOf.get(from)}`
      : to === from + 1
        ? `at ${clockOf.get(from)} and ${clockOf.get(to)}`
        : `every hour from ${clockOf.get(from)} to ${clockOf.get(to)}`,
  )
  return list(parts, "and")
}

/** The times within an hour: "every 5 minutes", "at second 15 of minute 30 of every hour". */
function withinHour(seconds: NumberSet, minutes: NumberSet): string {
  const minuteStep = evenStep(minutes)
  if (isZero(seconds)) {
    if (minutes.full) return "every minute"
    return minuteStep === undefined
      ? `at ${members(minutes, "minute")} of every hour`
      : `every ${minuteStep} minutes`
  }
  const secondStep = evenStep(seconds)
  const isSteady = seconds.full || secondStep !== undefined
  const second = seconds.full
    ? "every second"
    : isSteady
      ? `every ${secondStep} seconds`
      : `at ${members(seconds, "second")}`
  if (minutes.full) return isSteady ? second : `${second} of every minute`
  const which =
    minuteStep === undefined
      ? `${members(minutes, "minute")} of every hour`
      : `every ${ordinal(minuteStep)} minute from 0 on`
  return `${second} ${isSteady ? "during" : "of"} ${which}`
}

/** "minute 5", "minutes 5 and 35", "every 7th minute from 0 to 56". */
function members({ values }: NumberSet, unit: "second" | "minute"): string {
  const words = runWords(values, String)
  const step = stepOver(values)
  if (words.length > MOST_TIMES && step !== undefined) {
    return `every ${ordinal(step)} ${unit} from ${values[0]} to ${values[values.length - 1]}`
  }
  return `${unit}${values.length > 1 ? "s" : ""} ${list(words, "and")}`
}

/** The hours: "from 09:00 to 17:59". A range includes the whole last hour. */
function hourWords(hours: NumberSet): string {
  const spans = runs(hours.values).map(([from, to]) => `from ${twoDigits(from)}:00 to ${twoDigits(to)}:59`)
  const step = stepOver(hours.values)
  if (spans.length <= 3 || step === undefined) return list(spans, "and")
  return `in every ${ordinal(step)} hour (${spans[0]}, ${spans[1]} and so on, the last ${spans[spans.length - 1]})`
}

/** The step of a set that starts at the minimum and divides the field evenly, so "every 15 minutes" is true. */
function evenStep({ values, min, max }: NumberSet): number | undefined {
  const step = stepOver(values)
  const isEven = step !== undefined && step > 1 && values[0] === min && values.length * step === max - min + 1
  return isEven ? step : undefined
}

function isZero(set: NumberSet): boolean {
  return set.size === 1 && set.has(0)
}
