/** What is left of the speed while a snapshot is held: of each load and contender, judged and printed. */
import { median, round, table } from "../tools/measure.mjs"
import { atLeast } from "../tools/verdict.mjs"

/** How much of the speed has to be left, and what is aimed at. */
export const FLOOR = 0.9
export const AIM = 0.97

/** Redis has no snapshots. */
export const among = ({ on, name }) => on === "postgres" && name !== "carillon-default"

export function byRound(measured, speedOf) {
  return new Map(measured.flatMap(({ round: number, result }) => (result ? [[number, speedOf(result)]] : [])))
}

/** For each contender the median share that is left in a round, with the least and the most. */
export function shares(contenders, speedsOf) {
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

export function judged({ median: share }) {
  return { verdict: atLeast(share, { floor: FLOOR, aim: AIM }) }
}

export function printLeft({ contenders }, left) {
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
