/**
 * `npm run bench -- report`, and `npm run generate`: writes the tables and charts of docs/benchmarks.md from
 * bench/results, between `<!-- figures: NAME -->` and `<!-- end of figures -->`. The text outside is written by hand
 * and stays. A section whose part has no results stays as it is.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import {
  besideSection,
  embeddedSection,
  harnessSection,
  millionsSection,
  schedulesSection,
  timeSection,
} from "./report/alone.mjs"
import { chartsSection } from "./report/charts.mjs"
import { aheadSection, comparisonSection } from "./report/comparison.mjs"
import { costsSection, latencySection, ratesSection, settingsSection } from "./report/contests.mjs"
import { leftSection } from "./report/snapshot.mjs"

const PAGE = new URL("../docs/benchmarks.md", import.meta.url)
const CHARTS = new URL("../docs/charts/", import.meta.url)
const MARKED = /<!-- figures: ([\w.]+) -->\n[\s\S]*?<!-- end of figures -->/g

/** By the name in the mark. Each takes a function that reads the results of a part. */
const SECTIONS = {
  charts: chartsSection,
  comparison: comparisonSection,
  ahead: aheadSection,
  execute: ratesSection({ part: "drain" }, { part: "sleep", prefix: "handlers that sleep, " }),
  enqueue: ratesSection({ part: "bulk", prefix: "in bulk, " }, { part: "single", prefix: "one by one, " }),
  both: costsSection("both", "plain"),
  latency: latencySection,
  snapshot: leftSection,
  millions: millionsSection,
  schedules: schedulesSection,
  embedded: embeddedSection,
  beside: besideSection,
  harness: harnessSection,
  time: timeSection,
  settings: settingsSection,
}

export function writeReport() {
  const page = readFileSync(PAGE, "utf8")
  const { text, charts, unmeasured } = renderReport(page)
  if (text !== page) writeFileSync(PAGE, text)
  mkdirSync(CHARTS, { recursive: true })
  for (const [name, svg] of charts) writeFileSync(new URL(`${name}.svg`, CHARTS), svg)
  return { unmeasured }
}

/** The page with its figures, and the charts by name. */
export function renderReport(page) {
  const charts = new Map()
  const unmeasured = []
  const text = page.replace(MARKED, (asItIs, name) => {
    const section = sectionOf(name, (chart, svg) => charts.set(chart, svg))
    if (section !== undefined) return `<!-- figures: ${name} -->\n${section}\n<!-- end of figures -->`
    unmeasured.push(name)
    return asItIs
  })
  return { text, charts, unmeasured }
}

/** Undefined if one of its parts has no results. */
function sectionOf(name, write) {
  if (!Object.hasOwn(SECTIONS, name))
    throw new Error(`docs/benchmarks.md asks for figures "${name}", which bench/report.mjs does not make`)
  let isMeasured = true
  const read = (part) => {
    const file = new URL(`results/${part}.json`, import.meta.url)
    isMeasured &&= existsSync(file)
    return JSON.parse(readFileSync(file, "utf8"))
  }
  try {
    return SECTIONS[name](read, { write })
  } catch (error) {
    if (isMeasured) throw error
    return undefined
  }
}
