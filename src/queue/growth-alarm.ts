/** When to tell that dead letters are growing, and when that they are not any more. */

export interface GrowthAlarm {
  /** How many it takes. */
  readonly atLeast: number
  readonly withinMs: number
}

export interface AlarmNow {
  readonly count: number
  readonly isRaised: boolean
  /** Null if it was never told. */
  readonly toldAgoMs: number | null
}

/** While it lasts it is told again, for those who have not seen the first. */
export const REMIND_MS = 3_600_000

/** Raised at the threshold and cleared below half of it: a number that wavers around the threshold is told once. */
export function judgeGrowth(alarm: GrowthAlarm, now: AlarmNow): "raised" | "lasting" | "cleared" | undefined {
  const { count, isRaised, toldAgoMs } = now
  if (!isRaised) return count >= alarm.atLeast ? "raised" : undefined
  if (count < alarm.atLeast / 2) return "cleared"
  return toldAgoMs === null || toldAgoMs >= REMIND_MS ? "lasting" : undefined
}
