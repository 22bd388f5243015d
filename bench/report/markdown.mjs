/** Small pieces of Markdown that every section is made of. */
import { round, thousands } from "../tools/measure.mjs"
import { MISSED } from "../tools/verdict.mjs"

/** Figures stand to the right; `isText` leaves words to the left. */
export function table(head, rows, { isText = false } = {}) {
  const line = (cells) => `| ${cells.join(" | ")} |`
  const rule = `|---|${head
    .slice(1)
    .map(() => (isText ? "---|" : "--:|"))
    .join("")}`
  return [line(head), rule, ...rows.map(line)].join("\n")
}

/** "12,300", "3.5", "0.071": three digits, and whole numbers in full. */
export function figure(value) {
  if (value === undefined || value === null) return ""
  if (Math.abs(value) >= 1_000) return thousands(Number(value.toPrecision(4)))
  return String(round(value))
}

export function percent(share) {
  return `${round(share * 100)} %`
}

/** The median, with the least and the most where there is more than one. `say` puts a figure into words. */
export function spread(values, say = figure) {
  if (values === undefined) return ""
  const { median, least, most } = values
  return least === most ? say(median) : `${say(median)} (${say(least)} to ${say(most)})`
}

/** "18 November 2026". */
export function day(date) {
  return new Date(date).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })
}

/** On what it was measured, in a sentence. Without it no figure means anything. */
export function origin(part, results) {
  const {
    date,
    carillon,
    node,
    contenderNode,
    versions = {},
    cpu,
    cores,
    memoryGb,
    fileSystem,
    kernel,
    commit,
    servers,
    server,
  } = results
  const peers = Object.entries({ ...versions, ...results.peers }).map(
    ([name, version]) => `${name} ${version}`,
  )
  const postgres = servers?.postgres ?? server
  const programs = [
    `Carillon ${carillon}${commit ? ` at ${commit}` : ""}`,
    ...peers,
    `Node ${contenderNode ?? node}`,
    ...(postgres?.version ? [`PostgreSQL ${postgres.version}`] : []),
  ]
  const where = [cpu, `${cores} cores`, `${memoryGb} GB`, fileSystem, kernel].filter(Boolean).join(", ")
  const lines = [`\`npm run bench -- ${part}\`, ${day(date)}: ${programs.join(", ")}; ${where}.`]
  if (results.isDisturbed)
    lines.push("**Others used the machine meanwhile: these figures are not to be relied on.**")
  for (const { name, because } of results.missing ?? []) lines.push(`**${name} is missing: ${because}.**`)
  return [...lines, ...leftOutWords(results.leftOut ?? [])].join(" ")
}

/** Who was not measured in what, by the reason. */
function leftOutWords(leftOut) {
  const reasons = [...new Set(leftOut.map(({ because }) => because))]
  return reasons.map((reason) => {
    const of = leftOut.filter(({ because }) => because === reason)
    const names = [...new Set(of.map(({ contender }) => contender))]
    const variants = [...new Set(of.map(({ variant }) => variant))]
    return `Not measured in "${variants.join('", "')}": ${names.join(", ")}, for ${reason}.`
  })
}

/** "holds" or "MISSED", in words that stand in a table. */
export function verdictCell(verdict) {
  return verdict === MISSED ? "**missed**" : (verdict ?? "")
}
