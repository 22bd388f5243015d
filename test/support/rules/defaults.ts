/** The documented default of an option, held against the default itself. */
import type { DocumentedOption } from "../../../scripts/generate/reference.mjs"
import { parseDuration } from "../../../src/time/duration.ts"

export type DefaultValue = string | number | null

/** Options whose default is a number or a text that is not in src/defaults.ts. */
const OWN_DEFAULTS = ["logger", "testing.database", "connections.max", "actor"]
const OWN_DEFAULTS_OF =
  /^(schedule\.(overlapKey|onExcluded)|schedule\.(misfire|dst|interval|every)\.\w+|backfill\.\w+)$/
/** A number or a quoted text, which needs a constant behind it. Words like "the pool of the job" need none. */
const STATES_A_VALUE = /["\d]/

export function wrongDefaults(
  options: readonly DocumentedOption[],
  defaults: Readonly<Record<string, DefaultValue>>,
): string[] {
  return options.flatMap(({ path, said, governs }) => {
    if (governs === undefined) {
      const hasValue = said !== undefined && STATES_A_VALUE.test(said)
      const isStray = hasValue && !OWN_DEFAULTS.includes(path) && !OWN_DEFAULTS_OF.test(path)
      return isStray ? [`${path} says @default ${said}, but scripts/generate knows no default behind it`] : []
    }
    const value = defaults[governs]
    if (value === undefined) return [`${path} is said to govern ${governs}, which is no default`]
    if (said === undefined) return [`${path} has a default, ${String(value)}, but no @default`]
    return agrees(said, governs, value) ? [] : [`${path} says @default ${said}, but it is ${String(value)}`]
  })
}

/** A literal has to be the value; a sentence has to mention it. */
function agrees(said: string, name: string, value: DefaultValue): boolean {
  if (value === null) return said === "none"
  const literal = parseLiteral(said)
  if (literal === undefined) return said.split(/\W+/).includes(String(value))
  return name.endsWith("Ms") ? parseDuration(literal) === value : literal === value
}

function parseLiteral(text: string): unknown {
  return /^(?:"[^"]*"|-?[\d.]+)$/.test(text) ? JSON.parse(text) : undefined
}
