/** Describes a schedule in English, so that a reader can check it. */
import { formatDuration, parseDuration } from "../time/duration.ts"
import { cronWords } from "./cron-words.ts"
import { list, plural } from "./phrases.ts"
import type { Schedule } from "./schedule.ts"
import type { CivilInterval, IntervalSpec, ScheduleSpec } from "./spec.ts"

export function scheduleWords(schedule: Schedule): string {
  const { spec } = schedule
  return [whenWords(schedule), ...limitWords(spec)].join(", ")
}

function whenWords({ spec, cron, zone }: Schedule): string {
  if (cron !== undefined) return `${cronWords(cron)}, in ${zone.id}`
  if ("afterCompletion" in spec)
    return `${lengthWords(spec.afterCompletion)} after the previous run has ended`
  if ("at" in spec) {
    return typeof spec.at === "string"
      ? `once, at ${spec.at} (${zone.id})`
      : `once, at ${spec.at.toISOString()}`
  }
  if ("every" in spec && typeof spec.every === "object") return `${civilWords(spec.every)}, in ${zone.id}`
  if ("every" in spec) {
    return intervalWords(spec as IntervalSpec)
  }
  return ""
}

function intervalWords({ every, offset, anchor }: IntervalSpec): string {
  const counted = anchor === "start" ? ", counted from its start" : ""
  const shifted = offset === undefined ? "" : `, shifted by ${lengthWords(offset)}`
  return `every ${lengthWords(every).replace(/^1 /, "")} of elapsed time${counted}${shifted}`
}

function civilWords(every: CivilInterval): string {
  const at = `at ${every.at ?? "00:00"}`
  const since = every.from ? `, counted from ${every.from}` : ""
  if (every.days !== undefined) return `${at}, every ${plural(every.days, "day")}${since}`
  if (every.weeks !== undefined) return `${at}, every ${plural(every.weeks, "week")}${since}`
  return `${at}, every ${plural(every.months ?? 1, "month")} on the same day of the month${since}`
}

function limitWords(spec: ScheduleSpec): string[] {
  const words: string[] = []
  const text = (value: unknown) =>
    typeof value === "string" ? value : (value as { toISOString(): string }).toISOString()
  if ("startAt" in spec && spec.startAt !== undefined) words.push(`from ${text(spec.startAt)} on`)
  if ("endAt" in spec && spec.endAt !== undefined) words.push(`before ${text(spec.endAt)}`)
  if ("exclude" in spec && spec.exclude && spec.exclude.length > 0) {
    const days = spec.exclude.map((item) => (typeof item === "string" ? item : `${item.from} to ${item.to}`))
    const then = {
      skip: "",
      "next-day": " (moved to the next day that is not excluded)",
      "previous-day": " (moved to the previous day that is not excluded)",
    }
    words.push(`except ${list(days, "and")}${then[spec.onExcluded ?? "skip"]}`)
  }
  if ("maxRuns" in spec && spec.maxRuns !== undefined)
    words.push(spec.maxRuns === 1 ? "at most once" : `at most ${spec.maxRuns} times`)
  if ("jitter" in spec && spec.jitter !== undefined)
    words.push(`each delayed by up to ${lengthWords(spec.jitter)}`)
  if ("spread" in spec && spec.spread !== undefined)
    words.push(`all delayed by the same time of up to ${lengthWords(spec.spread)}`)
  return words
}

/** "1 minute", "90 seconds". */
function lengthWords(value: string | number): string {
  const ms = parseDuration(value) ?? 0
  const short = String(formatDuration(ms))
  const [, number = "", unit = "ms"] = /^([\d.]+)(\w+)$/.exec(short) ?? []
  const names: Readonly<Record<string, string>> = {
    ms: "millisecond",
    s: "second",
    m: "minute",
    h: "hour",
    d: "day",
    w: "week",
  }
  const name = names[unit] ?? unit
  return `${number} ${name}${number === "1" ? "" : "s"}`
}
