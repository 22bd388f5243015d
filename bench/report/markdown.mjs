/** Small pieces of Markdown that every section is made of. */
import { round, thousands } from "../tools/measure.mjs"

/** Prose that is generated is wrapped like prose that is written. */
const COLUMNS = 120

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

/** When and at which commit the named parts were measured, and what their figures may not hide: one paragraph. */
export function measured(parts) {
  const facts = Object.entries(parts).map(([part, results]) => {
    const at = results.commit ? ` at \`${results.commit}\`` : ""
    const rounds = results.rounds ?? results.sizes?.rounds
    const times = Number.isInteger(rounds) ? `, ${rounds} rounds` : ""
    return `\`${part}\` ${day(results.date)}${at}${times}`
  })
  const disturbed = Object.entries(parts).flatMap(([part, { isDisturbed }]) =>
    isDisturbed
      ? [`**Others used the machine during \`${part}\`: these figures are not to be relied on.**`]
      : [],
  )
  const missing = Object.entries(parts).flatMap(([part, results]) =>
    (results.missing ?? []).map(({ name, because }) => `**\`${part}\` lacks ${name}: ${because}.**`),
  )
  return [`Measured: ${facts.join("; ")}.`, ...disturbed, ...missing].join(" ")
}

/** Breaks a paragraph into lines. What stands in backticks stays on one line. */
export function wrapped(text, { indent = "" } = {}) {
  const words = text.match(/(?:`[^`]*`|\S)+/g) ?? []
  const lines = [words.shift() ?? ""]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (longer.length <= COLUMNS) lines[lines.length - 1] = longer
    else lines.push(indent + word)
  }
  return lines.join("\n")
}
