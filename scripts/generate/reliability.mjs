// Writes the tables of docs/reliability.md from what the simulator, the mutants and chaos have left behind.
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
    // What has not been run has nothing to show.
    if (existsSync(file)) page = fill(page, name, render(JSON.parse(await readFile(file, "utf8"))))
  }
  await writeFile(PAGE, page)
}

/** What stands between the marks is replaced; the rest is written by hand. */
function fill(page, name, text) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/reliability.md has no place for ${name}`)
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`
}

function renderSeeds({ seeds, failed, steps, virtualMs, counted, judged, faults }) {
  const hours = Math.round(virtualMs / 3_600_000)
  const struck = Object.entries(faults)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => [name, number(count)])
  return [
    `${number(seeds)} seeds, ${number(failed)} failed: ${number(steps)} steps and ${number(hours)} hours of virtual time, ` +
      `with ${number(counted.runs)} runs, ${number(counted.starts)} starts, ${number(counted.lost)} attempts lost with ` +
      `their process and ${number(counted.fenced)} late words refused.`,
    "",
    `So many facts were held against each invariant: ${factsOf(judged)}.`,
    "",
    table(["Fault", "times"], struck, ["---", "--:"]),
  ].join("\n")
}

/** As in I1 29,075, I2 39,372. */
function factsOf(judged) {
  return Object.entries(judged)
    .filter(([, facts]) => facts > 0)
    .map(([invariant, facts]) => `${invariant} ${number(facts)}`)
    .join(", ")
}

function renderFaults(rows) {
  const cells = rows.map((row) =>
    row.result === "not yet"
      ? [row.id, row.title, "", "", "", "", "", "", `not yet (${row.done})`]
      : [row.id, `${row.title}: ${row.done}`, ...countsOf(row), wholeOf(row), judgedOf(row), row.result],
  )
  const held = rows.filter(({ result }) => result === "held").length
  const violated = rows.filter(({ result }) => result === "violated").length
  const seeds = [...new Set(rows.map(({ seed }) => seed))]
  return [
    `${held} held, ${violated} violated, ${rows.length - held - violated} not yet; ` +
      `seed${seeds.length === 1 ? "" : "s"} ${seeds.join(", ")}.`,
    "",
    table(
      ["", "Fault, and what was done", "runs", "lost", "again", "refused", "whole again", "judged", "result"],
      cells,
      ["---", "---", "--:", "--:", "--:", "--:", "--:", "---", "---"],
    ),
  ].join("\n")
}

/** Older entries keep it elsewhere, or have none: then nobody has read the history. */
function isExamined({ evidence, examination }) {
  return evidence !== undefined || examination !== undefined
}

/** What was not counted is a dash, also where it was written down as nothing. */
function countsOf(row) {
  return [row.runs, row.lost, row.duplicates, row.fenced].map((count) =>
    count === undefined || (count === 0 && !isExamined(row)) ? "-" : number(count),
  )
}

/** How long after the fault everybody was at work again. */
function wholeOf({ recoveredMs }) {
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
