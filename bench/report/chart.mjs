/** Bars as SVG, written by hand: a title, a bar per row with its least and most, and the figure beside it. */
import { figure } from "./markdown.mjs"

const WIDTH = 760
const LABEL = 210
const ROW = 26
const TOP = 46
const FULL = WIDTH - LABEL - 110
const COLOURS = { ours: "#2563eb", theirs: "#94a3b8" }

/** `rows` are { label, value, least?, most?, isOurs }; a row without a value says why in `note`. */
export function barChart({ title, unit, rows }) {
  const longest = Math.max(...rows.map(({ value = 0, most = 0 }) => Math.max(value, most)), Number.MIN_VALUE)
  const at = (value) => (value / longest) * FULL
  const height = TOP + rows.length * ROW + 12
  const bars = rows.map((row, index) => {
    const y = TOP + index * ROW
    const middle = y + ROW / 2
    const label = text(LABEL - 10, middle + 4, row.label, `text-anchor="end"`)
    if (row.value === undefined) return label + text(LABEL + 4, middle + 4, row.note ?? "", `fill="#64748b"`)
    const colour = row.isOurs ? COLOURS.ours : COLOURS.theirs
    const bar = `<rect x="${LABEL}" y="${y + 4}" width="${size(at(row.value))}" height="${ROW - 8}" fill="${colour}"/>`
    const whisker =
      row.least === undefined
        ? ""
        : `<path d="M${size(LABEL + at(row.least))} ${middle}H${size(LABEL + at(row.most))}" stroke="#0f172a"/>`
    const end = LABEL + at(Math.max(row.value, row.most ?? 0)) + 8
    return label + bar + whisker + text(size(end), middle + 4, figure(row.value))
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(12, 20, title, `font-weight="600"`),
    text(12, 37, unit, `fill="#64748b" font-size="12"`),
    ...bars,
    "</svg>",
    "",
  ].join("\n")
}

function text(x, y, words, more = "") {
  const safe = String(words).replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  return `<text x="${x}" y="${y}" ${more}>${safe}</text>`
}

function size(value) {
  return Number(value.toFixed(1))
}
