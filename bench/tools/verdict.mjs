/** Figures beside what was asked for. They are judged as they were measured, and rounded afterwards. */

const HOLDS = "holds"
const SHORT = "holds, short of the aim"
const ONLY_SHORT = "short of the aim"
export const MISSED = "MISSED"

/** More is better: at least `floor`, and `aim`, where there are. `isMore`: as much as the floor is not enough. */
export function atLeast(value, { floor, aim, isMore = false }) {
  if (floor === undefined) return value >= aim ? HOLDS : ONLY_SHORT
  if (!(isMore ? value > floor : value >= floor)) return MISSED
  return aim !== undefined && value < aim ? SHORT : HOLDS
}

/** Less is better: at most `limit`, and `aim` where there is one. */
export function atMost(value, { limit, aim }) {
  if (!(value <= limit)) return MISSED
  return aim !== undefined && value > aim ? SHORT : HOLDS
}
