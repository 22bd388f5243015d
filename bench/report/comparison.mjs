/** Carillon beside the best peer in every contest: the table at the top of the page, and the list of who is ahead. */
import { judge } from "../queue/print.mjs"
import { MISSED } from "../tools/verdict.mjs"
import { figure, table, wrapped } from "./markdown.mjs"

const REDIS = ["bullmq-redis", "bullmq-redis-always"]
const RATE = { key: "perSecond", better: "more" }
const MEDIAN = { key: "medianMs", better: "less" }
const SLOWEST = { key: "p99Ms", better: "less" }

/**
 * What is compared, in the order of the page. A peer counts by the best of its ways `among` several. In the list of who
 * is ahead, comparisons of one `group` are told together.
 */
export const COMPARED = [
  {
    part: "bulk",
    variant: "call",
    among: ["call", "sql"],
    of: RATE,
    title: "enqueue in bulk, a second",
    group: "enqueue in bulk",
  },
  ...["1", "8", "64"].map((variant) => ({
    ...{ part: "single", variant, of: RATE, group: "enqueue one by one" },
    title: `enqueue one by one, ${variant} ${variant === "1" ? "call" : "calls"} at once, a second`,
  })),
  ...["1", "2", "4"].map((variant) => ({
    ...{ part: "drain", variant, of: RATE, group: "execute from a full queue" },
    title: `execute from a full queue, ${variant} ${variant === "1" ? "process" : "processes"}, a second`,
  })),
  {
    part: "both",
    variant: "plain",
    of: RATE,
    title: "enqueue and execute at once, a second",
    group: "enqueue and execute at once",
  },
  {
    part: "sleep",
    variant: "4",
    of: RATE,
    title: "handlers that sleep, 4 processes, a second",
    group: "handlers that sleep",
  },
  ...Object.entries({
    sameIdle: ["same process, idle", "start in the same process"],
    sameBusy: ["same process, 300 a second", "start in the same process"],
    otherIdle: ["other process, idle", "start in another process"],
    otherBusy: ["other process, 300 a second", "start in another process"],
  }).flatMap(([variant, [title, group]]) => [
    { part: "latency", variant, of: MEDIAN, title: `to the start, ${title}, ms`, group },
    { part: "latency", variant, of: SLOWEST, title: `to the start of 99 %, ${title}, ms`, group },
  ]),
]

/** `read` gives the results of a part. */
export function comparisonSection(read) {
  // The slowest of a hundred stand beside their medians in the table of latencies.
  const rows = COMPARED.filter(({ of }) => of !== SLOWEST).map((each) => {
    const results = read(each.part)
    const cells = ["postgres", REDIS].flatMap((beside) => cellsOf(each, results, beside))
    return [each.title, figure(figureOf(each, results, "carillon")), ...cells]
  })
  return table(["", "Carillon", "best peer on PostgreSQL", "times", "best on Redis", "times"], rows)
}

/** Every peer that is ahead of Carillon somewhere, with the share of its speed that Carillon reaches there. */
export function aheadSection(read) {
  const ahead = new Map()
  for (const each of COMPARED) {
    const results = read(each.part)
    for (const [name, { title, isOurs }] of Object.entries(results.contenders)) {
      if (isOurs) continue
      const { times, verdict } = besides(each, results, [name])
      if (verdict !== MISSED) continue
      const groups = ahead.get(title) ?? new Map()
      ahead.set(title, groups.set(each.group, [...(groups.get(each.group) ?? []), times]))
    }
  }
  return [...ahead]
    .map(([title, groups]) => {
      const words = [...groups].map(([group, times]) => {
        const of = COMPARED.filter((each) => each.group === group).length
        return `${group}, in ${times.length} of ${of} (${rangeOf(times)})`
      })
      return wrapped(`- **${title}**: ${words.join("; ")}.`, { indent: "  " })
    })
    .join("\n")
}

function rangeOf(times) {
  const [least, most] = [Math.min(...times), Math.max(...times)]
  return least === most ? String(least) : `${least} to ${most}`
}

function cellsOf(each, results, beside) {
  const { bestPeer, times, verdict } = besides(each, results, beside)
  if (bestPeer === undefined) return ["", verdict]
  const theirs = figureOf({ ...each, variant: wayOf(each, results, bestPeer) }, results, bestPeer)
  const { title } = results.contenders[bestPeer]
  if (verdict.startsWith("not judged")) return [`${figure(theirs)} (${title})`, verdict]
  return [`${figure(theirs)} (${title})`, verdict === MISSED ? `**${times}**` : times]
}

/** With a floor of one, "missed" means that a peer is ahead. */
function besides({ variant, among, of }, results, beside) {
  const target = { variant, key: of.key, floor: 1, beside, ...(among ? { among } : {}) }
  const [verdict] = judge({ figures: [of], target }, results)
  return verdict
}

/** The variant in which a peer is at its best. */
function wayOf({ variant, among = [variant], of }, results, name) {
  const values = among
    .map((way) => ({ way, value: results.figures[way]?.[name]?.[of.key]?.median }))
    .filter(({ value }) => value !== undefined)
  const isBetter = (a, b) => (of.better === "more" ? a.value > b.value : a.value < b.value)
  return values.reduce((best, each) => (isBetter(each, best) ? each : best)).way
}

function figureOf({ variant, of }, { figures }, name) {
  return figures[variant]?.[name]?.[of.key]?.median
}
