/** The steps of a series, and which stored rows answer each. */
import type { InstantMs } from "../time/instant.ts"

export const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** How long each point of a series is. */
export type StatsStep = keyof typeof STEP_MS

/**
 * Processes append parts. The roll-up replaces parts by a row of their minute and one of their hour, in one statement.
 * So every end is counted once by parts and minutes, and once by parts and hours.
 */
export const STORED_AS: Readonly<Record<StatsStep, readonly string[]>> = {
  minute: ["part", "minute"],
  hour: ["part", "hour"],
  day: ["part", "hour"],
}

/** The start of the step that an instant lies in, in UTC. */
export function stepStart(at: InstantMs, step: StatsStep): InstantMs {
  return Math.floor(at / STEP_MS[step]) * STEP_MS[step]
}
