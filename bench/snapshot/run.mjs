/**
 * Part "snapshot": loads with and without a snapshot that is held open for a minute, and how much of the speed is
 * left at the end of that minute. Contenders on Redis are not in it: Redis has no snapshots.
 */
import { contest } from "../queue/contest.mjs"
import { AIM, among, byRound, FLOOR, printLeft, shares } from "./left.mjs"
import { part } from "./loads.mjs"

export const run = (options) => runLoads(part, options)

export async function runLoads(part, options) {
  const results = await contest(part, { ...options, among })
  const left = leftOf(results)
  printLeft(results, left)
  return { ...results, left, floor: FLOOR, aim: AIM }
}

/**
 * What is left by load and contender, as with and without follow each other in each round. Less latency is more speed.
 */
function leftOf({ measured, variants, contenders }) {
  const loads = [...new Set(Object.values(variants).map(({ load }) => load))]
  return Object.fromEntries(
    loads.map((load) => {
      const speeds = (name, isHeld) =>
        byRound(
          measured.filter(
            ({ contender, variant }) =>
              contender === name && variants[variant].load === load && variants[variant].isHeld === isHeld,
          ),
          ({ speed }) => speed,
        )
      return [load, shares(contenders, (name) => [speeds(name, false), speeds(name, true)])]
    }),
  )
}
