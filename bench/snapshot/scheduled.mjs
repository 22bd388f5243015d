/** Carillon's schedules under a snapshot: what an occurrence costs, executed, at a pace that leaves the machine some air. */

import { steady } from "../schedules/measures.mjs"
import { withSchedules } from "../schedules/on.mjs"
import { median, round } from "../tools/measure.mjs"
import { startServer } from "../tools/server.mjs"
import { holdSnapshot } from "../tools/snapshot.mjs"

const FULL = { rounds: 3, schedules: 10_000, perSecond: 1_000, seconds: 60 }
const QUICK = { rounds: 1, schedules: 3_000, perSecond: 300, seconds: 6 }
const SLOTS = 100

/** What is left of the speed is told by the processors: at this pace all of them are executed in either case. */
export async function measureScheduled({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  const rounds = []
  try {
    for (let round = 0; round < sizes.rounds; round += 1) {
      const [without, held] = [await measure(server, sizes, false), await measure(server, sizes, true)]
      rounds.push({ without, held })
      console.log(
        `scheduled, ${costOf(without).toFixed(0)} ms of processors a second without, ${costOf(held).toFixed(0)} with`,
      )
    }
  } finally {
    await server.stop()
  }
  const shares = rounds.map(({ without, held }) => costOf(without) / costOf(held))
  const left = {
    median: round(median(shares)),
    least: round(Math.min(...shares)),
    most: round(Math.max(...shares)),
  }
  return { sizes, slots: SLOTS, left, rounds }
}

function measure(server, { schedules, perSecond, seconds }, isHeld) {
  return server.withDatabase((url) =>
    withSchedules(url, schedules, async (on) => {
      const meanwhile = async (use) => {
        const release = await holdSnapshot(url)
        try {
          return await use()
        } finally {
          await release()
        }
      }
      return steady(on, { perSecond, seconds, spec: "often", slots: SLOTS, ...(isHeld && { meanwhile }) })
    }),
  )
}

function costOf({ nodeMsPerSecond, serverMsPerSecond }) {
  return nodeMsPerSecond + serverMsPerSecond
}
