// Writes the tables of docs/reliability.md from the results of the simulator, the mutants and the chaos suite.
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"

const ROOT = new URL("../../", import.meta.url)
const PAGE = new URL("docs/reliability.md", ROOT)

const SECTIONS = {
  seeds: { from: "test/sim/results.json", render: renderSeeds },
  faults: { from: "test/chaos/results.json", render: renderFaults },
  mutants: { from: "test/mutants/results.json", render: renderMutants },
}

export async function generateReliability() {
  let page = await readFile(PAGE, "utf8")
  for (const [name, { from, render }] of Object.entries(SECTIONS)) {
    const file = new URL(from, ROOT)
    // A suite that has not run yet has no results.
    if (existsSync(file)) page = fill(page, name, render(JSON.parse(await readFile(file, "utf8"))))
  }
  await writeFile(PAGE, page)
}

/** Replaces the text between the marks. The rest of the page is written by hand. */
function fill(page, name, text) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from)
    throw new Error(`docs/reliability.md lacks the marks of ${name}. Add ${begin} and ${end}.`)
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`
}

function renderSeeds({ seeds, failed, steps, virtualMs, counted, judged, faults }) {
  const hours = Math.round(virtualMs / 3_600_000)
  const struck = Object.entries(faults)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => [name, number(count)])
  return [
    `${number(seeds)} seeds, ${number(failed)} failed: ${number(steps)} steps in ${number(hours)} hours of virtual ` +
      `time, with ${number(counted.runs)} runs, ${number(counted.starts)} starts,\n${number(counted.lost)} attempts ` +
      `lost with their process, and ${number(counted.fenced)} late results refused.`,
    "",
    "Facts checked per invariant:",
    "",
    table(["Invariant", "facts"], factsOf(judged), ["---", "--:"]),
    "",
    table(["Fault", "times"], struck, ["---", "--:"]),
  ].join("\n")
}

function factsOf(judged) {
  return Object.entries(judged)
    .filter(([, facts]) => facts > 0)
    .map(([invariant, facts]) => [invariant, number(facts)])
}

function renderFaults(rows) {
  const cells = rows.map((row) =>
    row.result === "not yet"
      ? [row.id, row.title, "", "", "", "", "", "", `not yet (${row.done})`]
      : [row.id, `${row.title}: ${row.done}`, ...countsOf(row), recoveryOf(row), judgedOf(row), row.result],
  )
  const held = rows.filter(({ result }) => result === "held").length
  const violated = rows.filter(({ result }) => result === "violated").length
  const seeds = [...new Set(rows.map(({ seed }) => seed))]
  return [
    `${held} held, ${violated} violated, ${rows.length - held - violated} not yet; ` +
      `seed${seeds.length === 1 ? "" : "s"} ${seeds.join(", ")}.`,
    "",
    table(
      ["", "Fault, and its strikes", "runs", "lost", "again", "refused", "recovery", "judged", "result"],
      cells,
      ["---", "---", "--:", "--:", "--:", "--:", "--:", "---", "---"],
    ),
  ].join("\n")
}

/** Whether a checker has read the history of this fault. */
function isExamined({ evidence, examination }) {
  return evidence !== undefined || examination !== undefined
}

/** Counts as text. A dash means not counted, also for a zero without a checked history. */
function countsOf(row) {
  return [row.runs, row.lost, row.duplicates, row.fenced].map((count) =>
    count === undefined || (count === 0 && !isExamined(row)) ? "-" : number(count),
  )
}

/** How long the system took to recover after the fault. */
function recoveryOf({ recoveredMs }) {
  return recoveredMs === undefined ? "-" : `${(recoveredMs / 1_000).toFixed(1)} s`
}

/** As in I1-I9, I24. */
function judgedOf(row) {
  if (!isExamined(row)) return "-"
  const { judged } = row
  const numbers = judged.map((name) => Number(name.slice(1))).sort((a, b) => a - b)
  const parts = []
  for (const each of numbers) {
    const part = parts.at(-1)
    if (part?.last === each - 1) part.last = each
    else parts.push({ first: each, last: each })
  }
  return parts.map(({ first, last }) => (first === last ? `I${first}` : `I${first}-I${last}`)).join(", ")
}

function renderMutants(mutants) {
  const found = mutants.filter((mutant) => mutant.found).length
  return [
    `${mutants.length} mutants, ${found} found.`,
    "",
    table(
      ["Mutant", "breaks", "found by"],
      mutants.map(({ name, breaks, by, found: isFound }) => [name, breaks, isFound ? by : "**not found**"]),
      ["---", "---", "---"],
    ),
  ].join("\n")
}

function table(headings, rows, rule) {
  return [headings, rule, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}

function number(value) {
  return Number(value ?? 0).toLocaleString("en-US")
}
