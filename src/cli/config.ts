/** `carillon config`: every setting with its value and where the value comes from. Masks secrets. */
import type { Command } from "./command.ts"
import { OUTPUT_OPTION, readOutput } from "./output.ts"
import type { Settings } from "./settings/read.ts"
import { SETTINGS, type Setting, type SettingName } from "./settings/table.ts"

const NAMES = Object.keys(SETTINGS) as SettingName[]

export const config: Command = {
  words: "config",
  summary: "every setting, its value, and where the value comes from",
  settings: NAMES,
  options: OUTPUT_OPTION,
  run: async (call) => {
    const output = readOutput(call)
    const settings = await call.readSettings()
    call.terminal.print(output === "json" ? asJson(settings) : asText(settings))
  },
}

function asJson(settings: Settings): string {
  const rows = NAMES.map((name) => [
    name,
    { value: masked(name, settings.get(name)), origin: settings.originOf(name) },
  ])
  return JSON.stringify({ file: settings.file, settings: Object.fromEntries(rows) }, null, 2)
}

function asText(settings: Settings): string {
  const rows = NAMES.map((name) => [name, shown(name, settings), settings.originOf(name)] as const)
  const widthOf = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length)) + 2
  const [names, values] = [widthOf(0), widthOf(1)]
  return [
    settings.file === undefined ? "No file of configuration." : `File of configuration: ${settings.file}`,
    "",
    ...rows.map(([name, value, origin]) => `${name.padEnd(names)}${value.padEnd(values)}${origin}`),
    ...settings.strangers.map((variable) => `\nNothing reads the variable ${variable}.`),
  ].join("\n")
}

function shown(name: SettingName, settings: Settings): string {
  const value = masked(name, settings.get(name))
  if (value === undefined) return SETTINGS[name].shownDefault || "none"
  if (Array.isArray(value)) return value.join(",")
  if (typeof value !== "object" || value === null) return String(value) || "none"
  return Object.entries(value)
    .map(([key, entry]) => `${key}=${entry}`)
    .join(",")
}

function masked(name: SettingName, value: unknown): unknown {
  const { hasPassword }: Setting = SETTINGS[name]
  return value !== undefined && hasPassword ? withoutPassword(String(value)) : value
}

/** A password may itself hold an `@`, and may also be a parameter. */
function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?]*):.*@/, "$1:***@").replace(/([?&]password=)[^&]*/gi, "$1***")
}
