// Writes docs/reference/defaults.md: every default with its value and meaning.
import { anchor, code, page, table } from "./markdown.mjs"
import { OPTIONS_PAGE, readOptions } from "./options.mjs"

/** What null means, per default. */
const NOTHING = { timeoutMs: "none", concurrency: "none", deadLettersMs: "kept" }

/** Options that select between defaults or replace them. */
const CHOSEN_BY = {
  historyShortMs: "job.history",
  historyMs: "job.history",
  historyLongMs: "job.history",
  overlapWithMisfireAll: "schedule.overlap",
  keyLeastMs: "enqueue.keyFor",
  workConnections: "connections.max",
  vitalConnections: "connections.max",
  handlerConnections: "connections.max",
}

const DURATIONS = [
  { unit: "days", ms: 86_400_000, from: 2 },
  { unit: "h", ms: 3_600_000, from: 1 },
  { unit: "min", ms: 60_000, from: 2 },
  { unit: "s", ms: 1_000, from: 1 },
  { unit: "ms", ms: 1, from: 0 },
]

const SIZES = [
  { unit: "MiB", bytes: 1_048_576 },
  { unit: "KiB", bytes: 1_024 },
  { unit: "bytes", bytes: 1 },
]

export async function renderDefaults({ load, read }) {
  const { DEFAULTS, DEFAULT_MEANINGS } = await load("defaults")
  const options = await readOptions(read)
  const all = options.flatMap((group) => group.options)
  const setBy = (name) => {
    const found = all.find((option) => option.governs === name || option.path === CHOSEN_BY[name])
    return found ? `[${code(found.path)}](${OPTIONS_PAGE}#${anchor(found.path)})` : ""
  }
  return page(
    "# Defaults",
    "The value of every setting that you do not set.",
    "## Set by options",
    "The description of an option says when to change it.",
    tableOf((name) => setBy(name) !== ""),
    "## Fixed",
    tableOf((name) => setBy(name) === ""),
  )

  function tableOf(isIn) {
    return table(
      ["Default", "Value", "Option", "Meaning"],
      Object.entries(DEFAULTS)
        .filter(([name]) => isIn(name))
        .map(([name, value]) => [code(name), readable(name, value), setBy(name), DEFAULT_MEANINGS[name]]),
    )
  }
}

function readable(name, value) {
  if (value === null) {
    if (!NOTHING[name])
      throw new Error(`Add the meaning of null for ${name} to scripts/generate/reference/defaults.mjs.`)
    return NOTHING[name]
  }
  if (typeof value === "string") return code(value)
  if (name.endsWith("Ms")) {
    const { unit, ms } = DURATIONS.find((one) => value % one.ms === 0 && value >= one.ms * one.from)
    return `${value / ms} ${unit}`
  }
  if (name.endsWith("Bytes")) {
    const { unit, bytes } = SIZES.find((one) => value % one.bytes === 0)
    return `${value / bytes} ${unit}`
  }
  return String(value)
}
