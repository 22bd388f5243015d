/** Figures to ratios, ratios to verdicts, and all of it to tables for the terminal. */
import { round, table, thousands } from "../tools/measure.mjs"
import { atLeast } from "../tools/verdict.mjs"

/**
 * How many times better Carillon is than the best of those it is compared with: more per second, or fewer milliseconds.
 * A peer that is missing or has failed might have been the best, so then nothing is judged.
 */
export function judge(part, { figures, contenders, missing = [] }) {
  const targets = part.targets ?? (part.target ? [part.target] : [])
  const verdicts = targets
    .filter(({ variant }) => figures[variant] !== undefined)
    .map((target) => verdictOf(part, { figures, contenders, missing }, target))
  return part.scaling === undefined ? verdicts : [...verdicts, ...scalingOf(part, figures)]
}

/** Peers are taken at their best, in whichever of the variants `among` that is. */
function verdictOf(part, { figures, contenders, missing }, target) {
  const { variant, key, floor, aim, isMore, beside, among = [variant] } = target
  const about = { variant, key, floor, aim, isMore }
  const ours = figures[variant]?.carillon?.[key]?.median
  if (ours === undefined) return { ...about, verdict: "FAILED" }
  const isMany = part.figures.find((figure) => figure.key === key).better === "more"
  const timesOf = (theirs) => (isMany ? ours / theirs : theirs / ours)
  const peers = among.flatMap((each) =>
    Object.entries(figures[each] ?? {}).flatMap(([name, { [key]: found }]) =>
      found && isBeside(contenders[name], name, beside) ? [{ name, times: timesOf(found.median) }] : [],
    ),
  )
  if (peers.length === 0) return { ...about, verdict: "there is no peer to compare with" }
  const { name: bestPeer, times } = peers.reduce((a, b) => (b.times < a.times ? b : a))
  const failed = Object.entries(contenders).filter(([name]) =>
    among.some((each) => figures[each]?.[name]?.failure && figures[each][name][key] === undefined),
  )
  const without = [...missing.map((each) => [each.name, each]), ...failed]
    .filter(([name, each]) => isBeside(each, name, beside))
    .map(([name]) => name)
  const verdict =
    without.length > 0 ? `not judged without ${without.join(", ")}` : atLeast(times, { floor, aim, isMore })
  return { ...about, bestPeer, times: round(times), verdict }
}

/** Of one that is missing it may not be known where it would run. */
function isBeside({ on, isOurs }, name, beside) {
  if (isOurs) return false
  if (beside === undefined) return true
  return beside === "postgres" ? on === undefined || on === "postgres" : beside.includes(name)
}

function scalingOf({ scaling: { key, floor } }, figures) {
  const counts = Object.keys(figures)
  return counts.slice(1).map((variant, index) => {
    const about = { variant, key, from: counts[index], floor }
    const [less, more] = [counts[index], variant].map((each) => figures[each].carillon?.[key]?.median)
    if (less === undefined || more === undefined) return { ...about, verdict: "FAILED" }
    return { ...about, times: round(more / less), verdict: atLeast(more / less, { floor }) }
  })
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
  for (const { variant, key, bestPeer, from, times = "?", verdict, ...target } of verdicts) {
    const best = bestPeer && `the best peer (${contenders[bestPeer].title})`
    const beside = best ?? variants[from]?.title ?? "the best peer"
    console.log(`${variants[variant].title}, ${key}: ${times} times ${beside}; ${wanted(target)}: ${verdict}`)
  }
}

/** "at least 2, aim 3". */
export function wanted({ floor, aim, isMore = false }) {
  const least = floor === undefined ? [] : [`${isMore ? "more than" : "at least"} ${floor}`]
  return [...least, ...(aim === undefined ? [] : [`aim ${aim}`])].join(", ")
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
