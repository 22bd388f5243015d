/** The behaviour of a classic cron daemon, as options of a schedule. */
import type { CronSpec } from "../../schedule/spec.ts"
import type { Duration } from "../../time/duration.ts"
import type { ScheduleSettingsOptions } from "./options.ts"

/** The options of `classic`. */
export interface ClassicOptions {
  /** Five fields, read as cron daemons read them. */
  readonly cron: string
  /** How long a failed run waits for its retry. The next occurrence replaces a run that still waits. */
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
 * Five plain cron fields, beginning with the minute of creation. One run at a time: a newer occurrence replaces the one
 * that waits. Failed runs are retried at a fixed interval until the next occurrence, or until their attempts are used
 * up.
 *
 * @example
 * const sync = classic({ cron: "0 * * * *", retryDelay: "5m" })
 * await carillon.schedules.put({ name: "sync", job: syncAll, ...sync })
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
