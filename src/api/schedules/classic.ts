/** The habits of a classic cron daemon, as options of a schedule. */
import type { CronSpec } from "../../schedule/spec.ts"
import type { Duration } from "../../time/duration.ts"
import type { ScheduleSettingsOptions } from "./options.ts"

/** The options of `classic`. */
export interface ClassicOptions {
  /** Five fields, as cron reads them. */
  readonly cron: string
  /** How long a failed run waits before it is tried again: until then, or until the next occurrence takes its place. */
  readonly retryDelay: Duration
}

type Classic = CronSpec &
  Required<
    Pick<
      ScheduleSettingsOptions,
      "misfire" | "overlap" | "retry" | "onNewOccurrence" | "includeCurrentMinute"
    >
  >

/**
 * Five plain fields, the minute in which it is made included, one run at a time, the newest first, tried again at fixed
 * intervals until the next occurrence comes. Attempts are bounded, as everywhere.
 *
 * @example await carillon.schedules.put({ name: "sync", job: sync, ...classic({ cron: "0 * * * *", retryDelay: "5m" }) })
 */
export function classic({ cron, retryDelay }: ClassicOptions): Classic {
  return {
    cron,
    dialect: "posix",
    misfire: "latest",
    overlap: "collapse",
    retry: { delay: retryDelay },
    onNewOccurrence: "replace-retry",
    includeCurrentMinute: true,
  }
}
