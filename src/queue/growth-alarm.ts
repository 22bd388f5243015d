/** Decides when to raise, repeat and clear the alarm about growing dead letters. */

export interface GrowthAlarm {
  /** The number of new dead letters that raises the alarm. */
  readonly atLeast: number
  readonly withinMs: number
}

export interface AlarmNow {
  readonly count: number
  readonly isRaised: boolean
  /** The time since the last event. Null if there was none. */
  readonly toldAgoMs: number | null
}

/** A raised alarm emits an event again after this time. */
export const REMIND_MS = 3_600_000

/** Raises at the threshold and clears below half of it, so a count near the threshold does not flap. */
export function judgeGrowth(alarm: GrowthAlarm, now: AlarmNow): "raised" | "lasting" | "cleared" | undefined {
  const { count, isRaised, toldAgoMs } = now
  if (!isRaised) return count >= alarm.atLeast ? "raised" : undefined
  if (count < alarm.atLeast / 2) return "cleared"
  return toldAgoMs === null || toldAgoMs >= REMIND_MS ? "lasting" : undefined
}
