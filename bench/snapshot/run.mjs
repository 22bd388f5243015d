/**
 * Part "snapshot": every load with and without a snapshot that somebody holds open for a minute, and how much of the speed
 * is left at the end of that minute. Contenders on Redis are not in it: Redis has no snapshots.
 */
import { contest } from "../queue/contest.mjs"
import { median, round, table } from "../tools/measure.mjs"
import { atLeast } from "../tools/verdict.mjs"
import { agedPart } from "./aged.mjs"
import { part } from "./loads.mjs"
import { measureScheduled } from "./scheduled.mjs"

/** How much of the speed has to be left, and what is aimed at. */
const FLOOR = 0.9
const AIM = 0.97

export async function run(options) {
  const among = ({ on, name }) => on === "postgres" && name !== "carillon-default"
  const results = await contest(part, { ...options, among })
  const aged = await contest(agedPart, { ...options, among })
  const wantsOurs = (options.only ?? ["carillon"]).includes("carillon")
  const scheduled = wantsOurs ? await measureScheduled(options) : undefined
  const left = { ...leftOf(results), ...leftOfAged(aged) }
  if (scheduled !== undefined) left.scheduled = { carillon: { ...scheduled.left, ...judged(scheduled.left) } }
  print(results, left)
  const isDisturbed = [results, aged, scheduled].some((each) => each?.isDisturbed)
  return { ...results, isDisturbed, aged, scheduled, left, floor: FLOOR, aim: AIM }
}

/** What is left by load and contender, as with and without follow each other in each round. Less latency is more speed. */
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

function leftOfAged({ measured, contenders }) {
  return Object.fromEntries(
    agedPart.figures.map(({ key, better }) => {
      const speeds = (name, variant) =>
        byRound(
          measured.filter((each) => each.contender === name && each.variant === variant),
          ({ [key]: figure }) => (better === "more" ? figure : 1 / figure),
        )
      return [key, shares(contenders, (name) => [speeds(name, "free"), speeds(name, "held")])]
    }),
  )
}

function byRound(measured, speedOf) {
  return new Map(measured.flatMap(({ round: number, result }) => (result ? [[number, speedOf(result)]] : [])))
}

/** Of each contender the median of what is left in each round, with the least and the most. */
function shares(contenders, speedsOf) {
  return Object.fromEntries(
    Object.keys(contenders).flatMap((name) => {
      const [without, held] = speedsOf(name)
      const ratios = [...held].flatMap(([number, speed]) => {
        const ratio = speed / without.get(number)
        return Number.isFinite(ratio) ? [ratio] : []
      })
      if (ratios.length === 0) return []
      const left = { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
      return [[name, { ...left, ...(name === "carillon" && judged(left)) }]]
    }),
  )
}

function judged({ median: share }) {
  return { verdict: atLeast(share, { floor: FLOOR, aim: AIM }) }
}

function print({ contenders }, left) {
  const names = Object.keys(contenders)
  const rows = Object.entries(left).map(([load, of]) => [
    load,
    ...names.map((name) => (of[name] ? `${round(of[name].median * 100)} %` : "")),
    of.carillon?.verdict ?? "",
  ])
  console.log(
    `\nWhat is left of the speed while a snapshot is held; at least ${FLOOR * 100} %, aim ${AIM * 100} %`,
  )
  console.log(table(["", ...names.map((name) => contenders[name].title), ""], rows))
}
