// docs/reference/defaults.md: every default with its value as people say it.
import { anchor, code, page, table } from "./markdown.mjs"
import { OPTIONS_PAGE, readOptions } from "./options.mjs"

/** What the absence of a value means, which depends on what it would limit. */
const NOTHING = { timeoutMs: "none", concurrency: "none", deadLettersMs: "kept" }

/** Options that choose between defaults, or replace them by something else. */
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
  const { DEFAULTS, DEFAULT_MEANINGS, RESERVED_DEFAULTS } = await load("defaults")
  const options = await readOptions(read)
  const all = options.flatMap((group) => group.options)
  const setBy = (name) => {
    const found = all.find((option) => option.governs === name || option.path === CHOSEN_BY[name])
    return found ? `[${code(found.path)}](${OPTIONS_PAGE}#${anchor(found.path)})` : ""
  }
  const isInUse = (name) => !RESERVED_DEFAULTS.includes(name)
  return page(
    "# Defaults",
    "What Carillon does when it is not told otherwise.",
    "## What options change",
    "The option's own description says when to.",
    tableOf((name) => isInUse(name) && setBy(name) !== ""),
    "## What is fixed",
    tableOf((name) => isInUse(name) && setBy(name) === ""),
    "## Reserved",
    "Decided, and without effect until the part of Carillon that they govern is there.",
    tableOf((name) => RESERVED_DEFAULTS.includes(name)),
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
      throw new Error(`say in scripts/generate/reference/defaults.mjs what no ${name} means`)
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
