/** Rounds to figures, figures to ratios, ratios to verdicts. */
import { median, round, table, thousands } from "../measure.mjs"
import { NAMES, PEERS } from "./contenders.mjs"

/**
 * What is read from each measurement. `floor` is how many times better than the best peer Carillon has to be: more
 * per second, or fewer milliseconds.
 */
export const FIGURES = [
  // graphile-worker is much faster through SQL written by hand than through its own call.
  {
    measure: "bulkCall",
    key: "perSecond",
    title: "enqueue in bulk, by the library's call, jobs/s",
    floor: 2,
  },
  { measure: "bulk", key: "perSecond", title: "enqueue in bulk, by whatever is fastest, jobs/s", floor: 2 },
  { measure: "drain", key: "perSecond", title: "execute from a full queue, jobs/s", floor: 2 },
  { measure: "both", key: "perSecond", title: "enqueue and execute at once, jobs/s", floor: 2 },
  { measure: "latencySame", key: "medianMs", title: "to start, same process, median ms", floor: 2 },
  { measure: "latencySame", key: "p99Ms", title: "to start, same process, 99 % ms", floor: 2 },
  { measure: "latencyOther", key: "medianMs", title: "to start, other process, median ms", floor: 2 },
  { measure: "latencyOther", key: "p99Ms", title: "to start, other process, 99 % ms", floor: 2 },
]

/** `rounds` holds a list of results per measure and contender. */
export function summarise(rounds) {
  return FIGURES.map((figure) => {
    const of = Object.fromEntries(
      NAMES.map((name) => [name, spread(rounds[figure.measure][name].map((result) => result[figure.key]))]),
    )
    const more = figure.key === "perSecond"
    const best = PEERS.reduce((a, b) => (more === of[a].median > of[b].median ? a : b))
    const [ours, theirs] = [of.carillon.median, of[best].median]
    const times = round(more ? ours / theirs : theirs / ours)
    const verdict = times >= figure.floor ? "holds" : "MISSED"
    return { ...figure, ...of, bestPeer: best, times, verdict }
  })
}

export function print(summary) {
  const rows = summary.map(({ title, key, bestPeer, times, floor, verdict, ...of }) => [
    title,
    ...NAMES.map((name) => inWords(of[name], key)),
    bestPeer,
    times,
    floor,
    verdict,
  ])
  console.log("\nMedians (least to most)")
  console.log(table(["", ...NAMES, "best peer", "times", "floor", ""], rows))
}

function spread(values) {
  return {
    median: round4(median(values)),
    least: round4(Math.min(...values)),
    most: round4(Math.max(...values)),
  }
}

function round4(value) {
  return Number(value.toPrecision(4))
}

function inWords({ median: middle, least, most }, key) {
  const say = key === "perSecond" ? thousands : (value) => value.toFixed(2)
  return `${say(middle)} (${say(least)} to ${say(most)})`
}
