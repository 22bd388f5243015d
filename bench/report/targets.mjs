/** Every target in one table, with what was measured, or why there is nothing. */
import { wanted } from "../queue/print.mjs"
import { figure, percent, spread, table, verdictCell } from "./markdown.mjs"

const NOT_MEASURED = ["", "", "not measured"]

/** `read` gives the results of a part, or undefined. */
export function targetsSection(read) {
  const contest = (part, title, { variant, key }) => {
    const results = read(part)
    const found = results?.verdicts.find((each) => each.variant === variant && each.key === key)
    if (!found) return [title, ...NOT_MEASURED]
    const { bestPeer, times, verdict } = found
    const beside = bestPeer ? ` (${results.contenders[bestPeer].title})` : ""
    const ratio = times === undefined ? "" : `${times} times${beside}`
    return [title, ratio, wanted(found), verdictCell(verdict)]
  }
  const rows = [
    contest("drain", "execute, one process", { variant: "1", key: "perSecond" }),
    contest("bulk", "enqueue in bulk", { variant: "call", key: "perSecond" }),
    contest("both", "enqueue and execute at once", { variant: "plain", key: "perSecond" }),
    ...["sameIdle", "sameBusy"].flatMap((variant) => [
      contest("latency", `to the start, ${title(variant)}, median`, { variant, key: "medianMs" }),
      contest("latency", `to the start, ${title(variant)}, 99 %`, { variant, key: "p99Ms" }),
    ]),
    ...["otherIdle", "otherBusy"].map((variant) =>
      contest("latency", `to the start, ${title(variant)}, median, among those on PostgreSQL`, {
        variant,
        key: "medianMs",
      }),
    ),
    ...["2", "4"].map((variant) =>
      contest("sleep", `${variant} processes beside ${Number(variant) / 2}, handlers that sleep`, {
        variant,
        key: "perSecond",
      }),
    ),
    ...snapshots(read),
    millions(read("millions")),
    ...schedules(read("schedules")),
    ["10,000 tenants, one with a million runs", "", "served within 2 claims; 80 %", "not built"],
    embedded(read("embedded")),
  ]
  return table(["target", "measured", "wanted", ""], rows, { isText: true })
}

const WORDS = {
  sameIdle: "same process, idle",
  sameBusy: "same process, 300 a second",
  otherIdle: "other process, idle",
  otherBusy: "other process, 300 a second",
}
const title = (variant) => WORDS[variant]

function snapshots(read) {
  const alone = read("scheduled")
  const loads = Object.entries({ plain: "snapshot", capped: "snapshot", delayed: "delayed" }).map(
    ([load, part]) => [load, read(part), read(part)?.left[load]?.carillon],
  )
  return [...loads, ["scheduled", alone, alone?.left]].map(([load, results, found]) => {
    const name = `what an old snapshot leaves, ${load}`
    if (!found) return [name, ...NOT_MEASURED]
    const { floor, aim } = results
    return [
      name,
      spread(found, percent),
      `at least ${percent(floor)}, aim ${percent(aim)}`,
      verdictCell(found.verdict),
    ]
  })
}

function millions(results) {
  const name = "claim beside 10 million finished, 10 million future and 1 million ready runs"
  const last = results?.stages.at(-1)
  if (!last) return [name, ...NOT_MEASURED]
  return [
    name,
    `${last.times} times the time`,
    `at most ${results.limit}, aim ${results.aim}`,
    verdictCell(last.verdict),
  ]
}

function schedules(results) {
  const names = {
    late: "a million schedules, 1,000 a second: how late, 99 %",
    cost: "the same load beside a million schedules",
  }
  const { late, cost } = results?.verdicts ?? {}
  return [
    late
      ? [
          names.late,
          `${figure(late.p99Ms)} ms`,
          `at most ${late.limitMs} ms, aim ${late.aimMs}`,
          verdictCell(late.verdict),
        ]
      : [names.late, ...NOT_MEASURED],
    cost
      ? [
          names.cost,
          `${figure(cost.times)} times the processors`,
          `at most ${cost.limit}`,
          verdictCell(cost.verdict),
        ]
      : [names.cost, ...NOT_MEASURED],
  ]
}

function embedded(results) {
  const name = "embedded server, warm start to the first run executed"
  if (!results) return [name, ...NOT_MEASURED]
  const { starts, figures, limitMs, aimMs } = results
  return [
    name,
    `${starts.embedded.warm} ms`,
    `at most ${limitMs} ms, aim ${aimMs}`,
    verdictCell(figures.embedded.verdict),
  ]
}
