/** `carillon cron explain`: a cron expression in words, with its next and previous times and its traps. Offline. */
import { previewSchedule } from "../api/schedules/preview.ts"
import { DEFAULTS } from "../defaults.ts"
import type { SchedulePreview } from "../schedule/preview.ts"
import type { CronSpec } from "../schedule/spec.ts"
import { parseCron } from "../time/cron-parse.ts"
import type { Command, CommandCall } from "./command.ts"
import { OUTPUT_OPTION, readOutput } from "./output.ts"

export const cronExplain: Command = {
  words: "cron explain",
  summary: "a cron expression in words, its next and previous times, and its traps",
  argument: "EXPR",
  options: {
    tz: { value: "ZONE", help: 'the zone, as in Europe/Oslo; "local" for this machine\'s (UTC)' },
    from: { value: "INSTANT", help: "times after this instant, as in 2026-03-01T00:00Z (now)" },
    count: { value: "NUMBER", help: "how many next and previous times (5)" },
    dialect: { value: "NAME", help: "posix, vixie or extended (extended)" },
    gap: { value: "POLICY", help: "times that a clock change skips: shift, next or skip (shift)" },
    fold: { value: "POLICY", help: "times that a clock change repeats: auto, first or both (auto)" },
    ...OUTPUT_OPTION,
  },
  run: async (call) => {
    const output = readOutput(call)
    const spec = specOf(call)
    const preview = previewSchedule(spec)
    call.terminal.print(output === "json" ? JSON.stringify(preview, null, 2) : describePreview(preview, spec))
  },
}

function specOf({ argument, values }: CommandCall): CronSpec & { from?: string; count?: number } {
  const given = <Key extends string>(key: Key, value: unknown) =>
    value === undefined ? {} : { [key]: value }
  const { tz, from, count, dialect, gap, fold } = values
  const dst = { ...given("gap", gap), ...given("fold", fold) }
  return {
    cron: argument ?? "",
    ...given("timeZone", tz),
    ...given("from", from),
    ...given("count", count === undefined ? undefined : Number(count)),
    ...given("dialect", dialect),
    ...(Object.keys(dst).length > 0 && { dst }),
  }
}

function describePreview(
  { words, occurrences, previous, warnings }: SchedulePreview,
  spec: CronSpec & { count?: number },
): string {
  const zone = parseCron(spec.cron, spec.dialect).timeZone ?? spec.timeZone ?? DEFAULTS.timeZone
  const wall = new Intl.DateTimeFormat("en-GB", {
    ...(zone !== "local" && { timeZone: zone }),
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "shortOffset",
  })
  const line = (at: Date) => `  ${at.toISOString()}   ${wall.format(at)}`
  return [
    `${words[0]?.toUpperCase()}${words.slice(1)}.`,
    ...(spec.count === 0
      ? []
      : ["", "Next:", ...(occurrences.length > 0 ? occurrences.map(line) : ["  never again"])]),
    ...(spec.count === 0
      ? []
      : ["", "Previous:", ...(previous.length > 0 ? previous.map(line) : ["  never before"])]),
    ...(warnings.length > 0 ? ["", "Mind:"] : []),
    ...warnings.map(({ code, message }) => `  ${code}: ${message}`),
  ].join("\n")
}
