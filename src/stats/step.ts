/** The steps of a series, and which stored rows answer each. */
import type { InstantMs } from "../time/instant.ts"

export const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** How long each point of a series is. */
export type StatsStep = keyof typeof STEP_MS

/** Sums of all tenants together, or by tenant. Both count every end. Most charts read the first, which are few rows. */
export type StatsScope = "" | "_by_tenant"

/** How the rows of a scope are named in the table. */
export function storedSteps(scope: StatsScope) {
  return { parts: `part${scope}`, minutes: `minute${scope}`, hours: `hour${scope}` } as const
}

/**
 * Processes append parts. The roll-up replaces parts by a row of their minute and one of their hour, in one statement.
 * So every end is counted once by parts and minutes, and once by parts and hours.
 */
export function storedAs(step: StatsStep, scope: StatsScope): readonly string[] {
  const { parts, minutes, hours } = storedSteps(scope)
  return [parts, step === "minute" ? minutes : hours]
}

/** The start of the step that an instant lies in, in UTC. */
export function stepStart(at: InstantMs, step: StatsStep): InstantMs {
  return Math.floor(at / STEP_MS[step]) * STEP_MS[step]
}
