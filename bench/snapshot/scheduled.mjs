/**
 * Part "scheduled": Carillon's schedules while a snapshot is held open: what an executed occurrence costs, at a pace
 * that leaves the machine some air.
 */
import { steady } from "../schedules/measures.mjs"
import { withSchedules } from "../schedules/on.mjs"
import { inTurn, median, round } from "../tools/measure.mjs"
import { SHARE } from "../tools/quiet.mjs"
import { startServer } from "../tools/server.mjs"
import { withSnapshot } from "../tools/snapshot.mjs"
import { AIM, FLOOR, judged } from "./left.mjs"

/** Only what happens after `beforeS` counts: until then everything that dies is still little. */
const FULL = { rounds: 2, schedules: 10_000, perSecond: 1_000, beforeS: 40, seconds: 20 }
const QUICK = { rounds: 1, schedules: 3_000, perSecond: 300, beforeS: 2, seconds: 4 }
const SLOTS = 100

/** What is left of the speed is told by the processors: at this pace all of them are executed in either case. */
export async function run({ quick = false } = {}) {
  const sizes = quick ? QUICK : FULL
  const server = await startServer()
  const rounds = []
  try {
    for (let number = 0; number < sizes.rounds; number += 1) {
      const withDatabase = quick ? server.withDatabase : server.withQuietDatabase
      const pair = {}
      for (const [name, isHeld] of inTurn(Object.entries({ without: false, held: true }), number)) {
        pair[name] = await measure(withDatabase, sizes, isHeld)
      }
      const { without, held } = pair
      rounds.push({ without, held })
      for (const [title, each] of Object.entries({ without, held })) {
        const { p50Ms, p99Ms } = each.late
        console.log(
          `scheduled, ${title}: ${costOf(each).toFixed(0)} ms of processors a second, ` +
            `${round(p50Ms)} ms late, 99 % ${round(p99Ms)}`,
        )
      }
    }
  } finally {
    await server.stop()
  }
  const shares = rounds.map(({ without, held }) => costOf(without) / costOf(held))
  const share = { median: median(shares), least: Math.min(...shares), most: Math.max(...shares) }
  const left = { ...share, ...judged(share) }
  const isDisturbed = rounds.some(({ without, held }) => without.others > SHARE || held.others > SHARE)
  console.log(
    `\n${round(left.median * 100)} % is left; at least ${FLOOR * 100} %, aim ${AIM * 100} %: ${left.verdict}`,
  )
  return {
    isDisturbed,
    server: { version: server.version, settings: server.settings },
    sizes,
    slots: SLOTS,
    figures: { without: figuresOf(rounds, "without"), held: figuresOf(rounds, "held") },
    left,
    floor: FLOOR,
    aim: AIM,
    rounds,
  }
}

function figuresOf(rounds, which) {
  const middle = (of) => round(median(rounds.map(({ [which]: each }) => of(each))))
  return {
    nodeMs: middle(({ nodeMsPerSecond }) => nodeMsPerSecond),
    serverMs: middle(({ serverMsPerSecond }) => serverMsPerSecond),
    p50Ms: middle(({ late }) => late.p50Ms),
    p99Ms: middle(({ late }) => late.p99Ms),
  }
}

function measure(withDatabase, { schedules, perSecond, beforeS, seconds }, isHeld) {
  return withDatabase((url) =>
    withSchedules(url, schedules, async (on) => {
      const meanwhile = (use) => withSnapshot(url, use)
      const task = { perSecond, beforeS, seconds, spec: "often", slots: SLOTS }
      return steady(on, { ...task, ...(isHeld && { meanwhile }) })
    }),
  )
}

function costOf({ nodeMsPerSecond, serverMsPerSecond }) {
  return nodeMsPerSecond + serverMsPerSecond
}
