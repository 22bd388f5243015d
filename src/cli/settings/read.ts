/** Reads settings: from flags, else the environment, else the file of configuration, else their defaults. */
import { readFile } from "node:fs/promises"
import type { CarillonConfig } from "../../api/config.ts"
import { isPlainObject } from "../../options/check.ts"
import { nearest } from "../../options/nearest.ts"
import type { Host } from "../../runtime/host.ts"
import { UsageError } from "../usage-error.ts"
import { loadConfig } from "./config-file.ts"
import { type Parsed, SETTINGS, type Setting, type SettingName, type SettingValue } from "./table.ts"

export interface Settings {
  /** What the file of configuration exports. Undefined if there is no file. */
  readonly config: CarillonConfig | undefined
  /** The path of that file. */
  readonly file: string | undefined
  readonly get: <Name extends SettingName>(name: Name) => SettingValue<Name> | undefined
  /** Where the value comes from, as in `--port` or `CARILLON_PORT`. */
  readonly originOf: (name: SettingName) => string
  /** Variables that begin like ours and that nothing reads. */
  readonly strangers: readonly string[]
}

export type Flags = Readonly<Partial<Record<SettingName, string | readonly string[]>>>

interface Found {
  readonly value: unknown
  readonly origin: string
}

const DEFAULT_ORIGIN = "default"
/** Variables of a client of a running server, which is no setting of a process. */
const OTHER_VARIABLES = ["CARILLON_URL", "CARILLON_TOKEN"]

export async function readSettings(host: Host, flags: Flags): Promise<Settings> {
  const outside = new Map<SettingName, Found>()
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const found = fromFlag(name, flags) ?? (await fromEnvironment(name, host))
    if (found !== undefined) outside.set(name, found)
  }
  const chosen = outside.get("config")?.value as string | undefined
  const loaded = await loadConfig(host, chosen)
  const find = (name: SettingName): Found => {
    const found = outside.get(name) ?? (loaded && fromFile(name, loaded.config, loaded.file))
    return found ?? { value: SETTINGS[name].default, origin: DEFAULT_ORIGIN }
  }
  return {
    config: loaded?.config,
    file: loaded?.path,
    get: <Name extends SettingName>(name: Name) => find(name).value as SettingValue<Name> | undefined,
    originOf: (name) => find(name).origin,
    strangers: strangersIn(host.facts.env),
  }
}

function fromFlag(name: SettingName, flags: Flags): Found | undefined {
  const given = flags[name]
  const { flag }: Setting = SETTINGS[name]
  if (given === undefined || flag === undefined) return undefined
  return { value: parsed(name, flag, typeof given === "string" ? given : given.join(",")), origin: flag }
}

async function fromEnvironment(name: SettingName, host: Host): Promise<Found | undefined> {
  const { variable, hasPassword }: Setting = SETTINGS[name]
  const { env } = host.facts
  const byFile = `${variable}_FILE`
  const path = hasPassword ? env[byFile] : undefined
  const text = env[variable]
  if (text !== undefined && path !== undefined)
    throw new UsageError(`Give ${variable} or ${byFile}, not both.`)
  if (path !== undefined) {
    return { value: parsed(name, byFile, await readSecret(byFile, path)), origin: `${byFile} ${path}` }
  }
  if (text === undefined) return undefined
  if (text.trim() === "") throw new UsageError(`${variable} is empty. Unset it, or give it a value.`)
  return { value: parsed(name, variable, text), origin: variable }
}

async function readSecret(variable: string, path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const { code } = error as { code?: unknown }
    throw new UsageError(`${variable} names the file ${JSON.stringify(path)}, which cannot be read: ${code}.`)
  })
  const secret = text.trim()
  if (secret === "")
    throw new UsageError(`${variable} names the file ${JSON.stringify(path)}, which is empty.`)
  return secret
}

/** The message repeats no value that may be secret. */
function parsed(name: SettingName, origin: string, text: string): unknown {
  const { parse, hasPassword }: Setting = SETTINGS[name]
  const read: Parsed<unknown> = parse(text)
  if ("value" in read) return read.value
  const got = hasPassword ? "" : `, not ${JSON.stringify(text.slice(0, 100))}`
  throw new UsageError(`${origin}: expected ${read.expected}${got}.`)
}

function fromFile(name: SettingName, config: CarillonConfig, file: string): Found | undefined {
  const { inFile }: Setting = SETTINGS[name]
  const steps = inFile?.split(".") ?? []
  const value = steps.reduce<unknown>((at, step) => (isPlainObject(at) ? at[step] : undefined), config)
  return inFile === undefined || value === undefined ? undefined : { value, origin: `${file}: ${inFile}` }
}

/** Misspelt variables would silently leave the default. */
function strangersIn(env: Host["facts"]["env"]): readonly string[] {
  const known = Object.values(SETTINGS).flatMap(({ variable }: Setting) => [variable, `${variable}_FILE`])
  return Object.keys(env)
    .filter((key) => key.startsWith("CARILLON_") && !known.includes(key) && !OTHER_VARIABLES.includes(key))
    .map((key) => {
      const meant = nearest(key, known)
      return meant ? `${key} (did you mean ${meant}?)` : key
    })
}
