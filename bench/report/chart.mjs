/** Bars and lines as SVG, written by hand. */
import { figure } from "./markdown.mjs"

const WIDTH = 760
const LABEL = 270
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
  return framed({ title, unit, height }, bars)
}

function framed({ title, unit, height }, pieces) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ` +
      `font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${safely(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(12, 20, title, `font-weight="600"`),
    text(12, 37, unit, `fill="#64748b" font-size="12"`),
    ...pieces,
    "</svg>",
    "",
  ].join("\n")
}

function text(x, y, words, more = "") {
  return `<text x="${x}" y="${y}" ${more}>${safely(words)}</text>`
}

function safely(words) {
  return String(words).replaceAll("&", "&amp;").replaceAll("<", "&lt;")
}

function size(value) {
  return Number(value.toFixed(1))
}

const LINES = { height: 300, left: 60, right: 190, bottom: 34 }
const PALETTE = ["#2563eb", "#ea580c", "#16a34a", "#9333ea", "#64748b", "#be123c", "#0891b2"]

/** `series` are { label, points: [x, y][] }; `mark` is an x with a word for what happens there. */
export function lineChart({ title, unit, xUnit, series, mark }) {
  const { height, left, right, bottom } = LINES
  const all = series.flatMap(({ points }) => points)
  const [mostX, mostY] = [0, 1].map((axis) => Math.max(...all.map((point) => point[axis]), Number.MIN_VALUE))
  const x = (value) => size(left + (value / mostX) * (WIDTH - left - right))
  const y = (value) => size(height - bottom - (value / mostY) * (height - bottom - TOP))
  const grid = [0, 0.5, 1].flatMap((share) => [
    `<path d="M${left} ${y(mostY * share)}H${WIDTH - right}" stroke="#e2e8f0"/>`,
    text(left - 8, y(mostY * share) + 4, figure(mostY * share), `text-anchor="end" fill="#64748b"`),
  ])
  const ends = spreadOut(series.map(({ points }) => y(points.at(-1)[1])))
  const lines = series.flatMap(({ label, points }, index) => {
    const colour = PALETTE[index % PALETTE.length]
    const path = points.map(([px, py], at) => `${at === 0 ? "M" : "L"}${x(px)} ${y(py)}`).join("")
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${index === 0 ? 2.5 : 1.5}"/>`,
      text(WIDTH - right + 8, size(ends[index] + 4), label, `fill="${colour}"`),
    ]
  })
  const marked = mark
    ? [
        `<path d="M${x(mark.x)} ${TOP}V${height - bottom}" stroke="#94a3b8" stroke-dasharray="4 3"/>`,
        text(x(mark.x) + 4, TOP + 10, mark.word, `fill="#64748b" font-size="12"`),
      ]
    : []
  const axis = text(left, height - 10, `0 to ${figure(mostX)} ${xUnit}`, `fill="#64748b" font-size="12"`)
  return framed({ title, unit, height }, [...grid, ...lines, ...marked, axis])
}

/** Moves labels apart that would lie on each other. */
function spreadOut(places) {
  const order = places.map((place, index) => ({ place, index })).sort((a, b) => a.place - b.place)
  for (const [at, each] of order.entries()) {
    const above = order[at - 1]
    if (above) each.place = Math.max(each.place, above.place + 15)
  }
  return order.sort((a, b) => a.index - b.index).map(({ place }) => place)
}
