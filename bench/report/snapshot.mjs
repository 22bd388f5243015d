/** The sections about snapshots: what is left of every load, and how it comes to that second by second. */
import { AGED_FIGURES } from "../snapshot/figures.mjs"
import { lineChart } from "./chart.mjs"
import { failures } from "./contests.mjs"
import { figure, origin, percent, spread, table, verdictCell } from "./markdown.mjs"

const BEFORE_S = 10

const TITLES = {
  plain: "plain, enqueued and executed at once",
  delayed: "enqueued and executed at once, each delayed by a second",
  capped: "the same with a limit of 100 at once",
  latency: "to the start in another process, 300 a second",
  bulk: "enqueued in bulk",
  single: "enqueued one by one, 8 at once",
  drain1: "executed from a full queue by 1 process",
  drain4: "by 4 processes",
  sameMs: "to the start in the same process, 300 a second",
  otherMs: "in another process",
}

export function snapshotSection(results, { writeChart }) {
  const title = "Enqueued and executed at once, while a snapshot is held"
  writeChart("snapshot", timelineChart(results, title))
  return [
    ...leftWords("snapshot", results),
    `![${title}: second by second, in the first round](charts/snapshot.svg)`,
    ...endFigures(results),
  ].join("\n\n")
}

export function delayedSection(results) {
  return [...leftWords("delayed", results), ...endFigures(results)].join("\n\n")
}

function endFigures({ contenders, variants, figures }) {
  const names = Object.keys(contenders)
  const rows = Object.entries(variants).map(([variant, { title }]) => [
    title,
    ...names.map((name) => spread(figures[variant][name]?.atTheEnd)),
  ])
  return [
    "In figures, with the least and the most:",
    table(["", ...names.map((name) => contenders[name].title)], rows),
  ]
}

export function agedSection(results) {
  const { contenders, figures } = results
  const names = Object.keys(contenders)
  return [
    ...leftWords("aged", results),
    "In figures, with the least and the most:",
    table(
      ["", ...names.map((name) => contenders[name].title)],
      AGED_FIGURES.flatMap(({ key, title: name }) =>
        ["free", "held"].map((variant) => [
          `${name}${variant === "held" ? ", held" : ""}`,
          ...names.map((each) => spread(figures[variant][each]?.[key])),
        ]),
      ),
    ),
  ].join("\n\n")
}

export function scheduledSection(results) {
  const { figures, left, floor, aim, sizes } = results
  const row = (title, { nodeMs, serverMs, p50Ms, p99Ms }) => [
    title,
    figure(nodeMs),
    figure(serverMs),
    figure(p50Ms),
    figure(p99Ms),
  ]
  return [
    `${origin("scheduled", results)} Medians of ${sizes.rounds} rounds.`,
    table(
      ["", "ms of Node a second", "ms of the server", "ms late, median", "99 %"],
      [row("without a snapshot", figures.without), row("held", figures.held)],
    ),
    `What is left of the speed: ${spread(left, percent)}; at least ${percent(floor)}, aim ${percent(aim)}: ${verdictCell(left.verdict)}.`,
  ].join("\n\n")
}

/** What was measured, what is left of each load, and who could not do it. */
function leftWords(part, results) {
  const { left, contenders, floor, aim, rounds, peerRounds, figures } = results
  const names = Object.keys(contenders)
  const rows = Object.entries(left).map(([load, of]) => [
    TITLES[load] ?? load,
    ...names.map((name) => spread(of[name], percent)),
    verdictCell(of.carillon?.verdict),
  ])
  return [
    `${origin(part, results)} Medians of ${rounds} rounds, ${peerRounds} of the peers; at least ${percent(floor)}, aim ${percent(aim)}.`,
    table(["what is left of the speed", ...names.map((name) => contenders[name].title), "Carillon"], rows),
    ...failures(figures, contenders),
  ]
}

/** Of each contender the first round, in percent of its first seconds. */
function timelineChart({ measured, contenders, sizes }, title) {
  const series = Object.entries(contenders).flatMap(([name, { title: label }]) => {
    const found = measured.find(
      ({ contender, variant, result }) => contender === name && variant === "plainHeld" && result?.timeline,
    )
    if (!found) return []
    const { timeline } = found.result
    const before = timeline.slice(0, BEFORE_S).reduce((sum, ran) => sum + ran, 0) / BEFORE_S
    return [
      {
        label,
        points: timeline.slice(0, sizes.seconds).map((ran, at) => [at + 1, (ran / before) * 100]),
      },
    ]
  })
  const mark = { x: sizes.heldFromS, word: "held from here on" }
  return lineChart({ title, unit: `% of the first ${BEFORE_S} seconds`, xUnit: "seconds", series, mark })
}
