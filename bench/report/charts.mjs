/** Writes every chart of the page, and the table that shows them two by two. */
import { barChart, lineChart } from "./chart.mjs"

const RATE = { key: "perSecond", unit: "jobs a second; bar: median, line: least to most" }
const DELAY = { key: "medianMs", unit: "milliseconds, less is better; bar: median, line: least to most" }
/** The seconds that the others are a percentage of. */
const BEFORE_S = 10

const START = { part: "latency", ...DELAY, title: "From enqueue to start" }

/** In the order of the page. */
const CHARTS = [
  bars({ part: "drain", variant: "1", ...RATE, title: "Execute from a full queue" }),
  scaling({ part: "drain", title: "Execute from a full queue, by processes" }),
  bars({ part: "both", variant: "plain", ...RATE, title: "Enqueue and execute at once" }),
  bars({ part: "bulk", variant: "call", among: ["call", "sql"], ...RATE, title: "Enqueue in bulk" }),
  bars({ part: "single", variant: "8", ...RATE, title: "Enqueue one by one" }),
  scaling({ part: "sleep", title: "Execute handlers that sleep, by processes" }),
  bars({ ...START, variant: "sameIdle" }),
  bars({ ...START, variant: "sameBusy" }),
  bars({ ...START, variant: "otherIdle" }),
  bars({ ...START, variant: "otherBusy" }),
  timeline({ part: "snapshot", title: "Enqueued and executed at once, while a snapshot is held" }),
]

/** `read` gives the results of a part; `write` keeps an SVG by its name. */
export function chartsSection(read, { write }) {
  const images = CHARTS.map((chartOf) => {
    const { file, title, svg } = chartOf(read)
    write(file, svg)
    return `![${title}](charts/${file}.svg)`
  })
  const rows = Array.from({ length: Math.ceil(images.length / 2) }, (_, row) =>
    [images[2 * row], images[2 * row + 1] ?? ""].join(" | "),
  )
  const [first, ...others] = rows.map((row) => `| ${row} |`)
  return [first, "|---|---|", ...others].join("\n")
}

/** A bar for each contender, and for each way in which it was measured `among` several. */
function bars({ part, variant, key, unit, among, title }) {
  return (read) => {
    const { figures, contenders, variants } = read(part)
    const words = among ? title : `${title}, ${variants[variant].title}`
    const rows = Object.entries(contenders).flatMap(([name, { title: label, isOurs }]) =>
      (among ?? [variant]).flatMap((way) => {
        const mine = figures[way]?.[name]
        if (mine === undefined) return []
        const { median: value, least, most } = mine[key] ?? {}
        const said = way === variant ? label : `${label}, ${variants[way].title}`
        return [{ label: said, value, least, most, isOurs, note: "failed" }]
      }),
    )
    return { file: `${part}-${variant}`, title: words, svg: barChart({ title: words, unit, rows }) }
  }
}

/** The variants are numbers of processes. */
function scaling({ part, title }) {
  return (read) => {
    const { figures, contenders } = read(part)
    const series = Object.entries(contenders).flatMap(([name, { title: label }]) => {
      const points = Object.entries(figures).flatMap(([processes, { [name]: found }]) =>
        found?.perSecond ? [[Number(processes), found.perSecond.median]] : [],
      )
      return points.length > 1 ? [{ label, points }] : []
    })
    const svg = lineChart({ title, unit: "jobs a second", xUnit: "processes", series })
    return { file: `${part}-scaling`, title, svg }
  }
}

/** The first round of each contender, second by second, in percent of its first seconds. */
function timeline({ part, title }) {
  return (read) => {
    const { measured, contenders, sizes } = read(part)
    const series = Object.entries(contenders).flatMap(([name, { title: label }]) => {
      const found = measured.find(
        ({ contender, variant, result }) => contender === name && variant === "plainHeld" && result?.timeline,
      )
      if (!found) return []
      const { timeline: seconds } = found.result
      const before = seconds.slice(0, BEFORE_S).reduce((sum, ran) => sum + ran, 0) / BEFORE_S
      const points = seconds.slice(0, sizes.seconds).map((ran, at) => [at + 1, (ran / before) * 100])
      return [{ label, points }]
    })
    const mark = { x: sizes.heldFromS, word: "held from here on" }
    const unit = `% of the first ${BEFORE_S} seconds`
    return { file: part, title, svg: lineChart({ title, unit, xUnit: "seconds", series, mark }) }
  }
}
