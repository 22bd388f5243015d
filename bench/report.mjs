/**
 * `npm run bench -- report`, and `npm run generate`: writes the tables and charts of docs/benchmarks.md from
 * bench/results, between `<!-- figures: NAME -->` and `<!-- end of figures -->`. What stands outside is written by hand and
 * stays. A section without results stays as it is.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { contestSection, costsSection, serversSection, settingsSection } from "./report/contests.mjs"
import * as ours from "./report/ours.mjs"
import { heldProfilesSection, latencyProfilesSection, profileSection } from "./report/profile.mjs"
import { agedSection, delayedSection, scheduledSection, snapshotSection } from "./report/snapshot.mjs"
import { targetsSection } from "./report/targets.mjs"

const PAGE = new URL("../docs/benchmarks.md", import.meta.url)
const CHARTS = new URL("../docs/charts/", import.meta.url)
const MARKED = /<!-- figures: ([\w.]+) -->\n[\s\S]*?<!-- end of figures -->/g

const RATE = { key: "perSecond", unit: "jobs a second: the median, the line from the least to the most" }
const DELAY = {
  key: "medianMs",
  unit: "milliseconds, less is better: the median, the line from the least to the most",
}

/** By name. What stands before the dot is the part whose results it is made from. */
const SECTIONS = {
  bulk: contestSection("bulk", {
    chart: { ...RATE, variant: "call", among: ["call", "sql"], title: "Enqueue in bulk" },
  }),
  single: contestSection("single", { chart: { ...RATE, variant: "8", title: "Enqueue one by one" } }),
  drain: contestSection("drain", {
    chart: { ...RATE, variant: "1", title: "Execute from a full queue" },
    scaling: "Execute from a full queue, by processes",
  }),
  "drain.costs": costsSection("drain", "1"),
  "drain.settings": settingsSection(),
  sleep: contestSection("sleep", { scaling: "Execute handlers that sleep, by processes" }),
  both: contestSection("both", {
    chart: { ...RATE, variant: "plain", title: "Enqueue and execute at once" },
  }),
  "both.costs": costsSection("both", "plain"),
  "both.settings": settingsSection(),
  "both.servers": serversSection(),
  latency: contestSection("latency", {
    keys: ["medianMs", "p99Ms"],
    chart: [
      { ...DELAY, variant: "sameIdle", title: "From enqueue to start" },
      { ...DELAY, variant: "sameBusy", title: "From enqueue to start" },
      { ...DELAY, variant: "otherIdle", title: "From enqueue to start" },
      { ...DELAY, variant: "otherBusy", title: "From enqueue to start" },
    ],
  }),
  "latency.settings": settingsSection(),
  "bulk.settings": settingsSection(),
  "single.settings": settingsSection(),
  "sleep.settings": settingsSection(),
  "profile.bulk": profileSection("bulk"),
  "profile.drain": profileSection("drain"),
  "profile.both": profileSection("both"),
  "profile.held": heldProfilesSection,
  "profile.latency": latencyProfilesSection,
  snapshot: snapshotSection,
  delayed: delayedSection,
  scheduled: scheduledSection,
  aged: agedSection,
  millions: ours.millionsSection,
  embedded: ours.embeddedSection,
  harness: ours.harnessSection,
  "claims.behind": ours.claimsBehindSection,
  "claims.late": ours.claimsLateSection,
  designs: ours.designsSection,
  "designs.alone": ours.aloneSection,
  "designs.inserts": ours.insertsSection,
  "designs.waits": ours.waitsSection,
  schedules: ours.schedulesSection,
  "schedules.crowd": ours.crowdSection,
  "time.nexts": ours.nextsSection,
  "time.previews": ours.previewsSection,
  "time.worst": ours.worstSection,
}

export function writeReport() {
  const page = readFileSync(PAGE, "utf8")
  const unmeasured = []
  const written = page.replace(MARKED, (asItIs, name) => {
    const text = name === "targets" ? targetsSection(readResults) : sectionOf(name)
    if (text === undefined) {
      unmeasured.push(name)
      return asItIs
    }
    return `<!-- figures: ${name} -->\n\n${text}\n\n<!-- end of figures -->`
  })
  if (written !== page) writeFileSync(PAGE, written)
  return { unmeasured }
}

/** Undefined if its part has not been measured. */
function sectionOf(name) {
  if (!Object.hasOwn(SECTIONS, name))
    throw new Error(`docs/benchmarks.md asks for figures "${name}", which nobody makes`)
  const results = readResults(name.split(".")[0])
  return results && SECTIONS[name](results, { writeChart })
}

function readResults(part) {
  const file = new URL(`results/${part}.json`, import.meta.url)
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
}

function writeChart(name, svg) {
  mkdirSync(CHARTS, { recursive: true })
  writeFileSync(new URL(`${name}.svg`, CHARTS), svg)
}
