/**
 * Part "snapshot": every load with and without a snapshot that somebody holds open for a minute, and how much of the speed
 * is left at the end of that minute. Contenders on Redis are not in it: Redis has no snapshots.
 */
import { contest } from "../queue/contest.mjs"
import { median, round, table } from "../tools/measure.mjs"
import { part } from "./loads.mjs"
import { measureScheduled } from "./scheduled.mjs"

/** How much of the speed has to be left, and what is aimed at. */
const FLOOR = 0.9
const AIM = 0.97

export async function run(options) {
  const results = await contest(part, { ...options, among: ({ on }) => on === "postgres" })
  const wantsOurs = (options.only ?? ["carillon"]).includes("carillon")
  const scheduled = wantsOurs ? await measureScheduled(options) : undefined
  const left = leftOf(results, scheduled)
  print(results, left)
  return { ...results, scheduled, left, floor: FLOOR, aim: AIM }
}

/**
 * What is left of the speed, by load and contender: medians of what is left in each round, as with and without follow
 * each other there. Less latency is more speed.
 */
function leftOf({ measured, variants, contenders }, scheduled) {
  const left = {}
  for (const load of new Set(Object.values(variants).map((variant) => variant.load))) {
    left[load] = {}
    for (const name of Object.keys(contenders)) {
      const of = (isHeld) =>
        measured.flatMap(({ variant, contender, result }) =>
          contender === name &&
          variants[variant].load === load &&
          variants[variant].isHeld === isHeld &&
          result
            ? [result.speed]
            : [],
        )
      const [without, held] = [of(false), of(true)]
      const ratios = held
        .slice(0, without.length)
        .map((speed, index) => speed / without[index])
        .filter(Number.isFinite)
      if (ratios.length === 0) continue
      left[load][name] = {
        median: round(median(ratios)),
        least: round(Math.min(...ratios)),
        most: round(Math.max(...ratios)),
      }
    }
  }
  if (scheduled !== undefined) left.scheduled = { carillon: scheduled.left }
  for (const of of Object.values(left)) {
    if (of.carillon) of.carillon.verdict = verdictOf(of.carillon.median)
  }
  return left
}

function verdictOf(share) {
  if (share < FLOOR) return "MISSED"
  return share < AIM ? "holds, short of the aim" : "holds"
}

function print({ contenders }, left) {
  const names = Object.keys(contenders)
  const rows = Object.entries(left).map(([load, of]) => [
    load,
    ...names.map((name) => (of[name] ? `${Math.round(of[name].median * 100)} %` : "")),
    of.carillon?.verdict ?? "",
  ])
  console.log(
    `\nWhat is left of the speed while a snapshot is held; at least ${FLOOR * 100} %, aim ${AIM * 100} %`,
  )
  console.log(table(["", ...names.map((name) => contenders[name].title), ""], rows))
}
