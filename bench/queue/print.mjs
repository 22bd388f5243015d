/** Figures to ratios, ratios to verdicts, and all of it to tables for the terminal. */
import { round, table, thousands } from "../tools/measure.mjs"

/**
 * How many times better Carillon is than the best of those it is compared with: more per second, or fewer milliseconds.
 * Peers that failed are not compared with; they are named in the table.
 */
export function judge(part, figures, contenders) {
  const targets = part.targets ?? (part.target ? [part.target] : [])
  const verdicts = targets.flatMap((target) => verdictOf(part, figures, contenders, target) ?? [])
  return part.scaling === undefined ? verdicts : [...verdicts, ...scalingOf(part, figures)]
}

function verdictOf(part, figures, contenders, { variant, key, floor, aim, beside }) {
  const of = figures[variant]
  const ours = of?.carillon?.[key]?.median
  if (ours === undefined) return undefined
  const isMore = part.figures.find((figure) => figure.key === key).better === "more"
  const peers = Object.keys(of).filter(
    (name) => name !== "carillon" && of[name][key] !== undefined && isBeside(contenders[name], name, beside),
  )
  if (peers.length === 0) return undefined
  const best = peers.reduce((a, b) => (isMore === of[a][key].median > of[b][key].median ? a : b))
  const theirs = of[best][key].median
  const times = round(isMore ? ours / theirs : theirs / ours)
  return { variant, key, bestPeer: best, times, floor, aim, verdict: wordFor(times, floor, aim) }
}

function isBeside({ on }, name, beside) {
  if (beside === undefined) return true
  return beside === "postgres" ? on === "postgres" : beside.includes(name)
}

function scalingOf({ scaling: { key, floor } }, figures) {
  const counts = Object.keys(figures)
  return counts.slice(1).flatMap((variant, index) => {
    const [less, more] = [counts[index], variant].map((each) => figures[each].carillon?.[key]?.median)
    if (less === undefined || more === undefined) return []
    const times = round(more / less)
    return [{ variant, key, from: counts[index], times, floor, verdict: wordFor(times, floor) }]
  })
}

function wordFor(times, floor, aim) {
  if (times < floor) return "MISSED"
  return aim !== undefined && times < aim ? "holds, short of the aim" : "holds"
}

export function printContest(part, { variants, figures, verdicts, contenders }) {
  for (const { key, title } of part.figures) {
    const names = Object.keys(contenders)
    const rows = Object.entries(variants).map(([variant, facts]) => [
      facts.title,
      ...names.map((name) => inWords(figures[variant][name], key)),
    ])
    console.log(`\n${part.title}, ${title}: medians (least to most)`)
    console.log(table(["", ...names.map((name) => contenders[name].title)], rows))
  }
  const [first] = Object.keys(variants)
  console.log(`\nWhat each job costs, ${variants[first].title}`)
  console.log(table(["", ...Object.values(COSTS)], costRows(figures[first], contenders)))
  for (const { variant, key, bestPeer, from, times, floor, aim, verdict } of verdicts) {
    const beside = bestPeer ? `the best peer (${contenders[bestPeer].title})` : variants[from].title
    const wanted = aim ? `${floor}, aim ${aim}` : floor
    console.log(
      `${variants[variant].title}, ${key}: ${times} times ${beside}; at least ${wanted}: ${verdict}`,
    )
  }
}

export const COSTS = {
  nodeUs: "us of Node",
  serverUs: "us of the server",
  logBytes: "bytes of log",
  commits: "commits",
  deadTuples: "dead tuples",
  peakMb: "peak MB of Node",
  serverMb: "MB of the server",
}

function costRows(of, contenders) {
  return Object.keys(contenders).flatMap((name) => {
    const costs = of[name]?.costs
    if (costs === undefined) return []
    const cells = Object.keys(COSTS).map((key) => (costs[key] === undefined ? "" : String(round(costs[key]))))
    return [[contenders[name].title, ...cells]]
  })
}

function inWords(figures, key) {
  if (figures === undefined) return ""
  if (figures[key] === undefined) return "FAILED"
  const { median, least, most } = figures[key]
  const say = key === "perSecond" ? thousands : (value) => value.toFixed(2)
  const failed = figures.failures ? `, ${figures.failures} FAILED` : ""
  return `${say(median)} (${say(least)} to ${say(most)}${failed})`
}
