/**
 * Finds and loads the file of configuration, `carillon.config.ts`, `.js` or `.mjs`.
 *
 * Node runs TypeScript by itself from 22.18 on. An older Node needs esbuild, which most projects have installed,
 * directly or through tsx or vite. The file is bundled without its packages, and stands beside itself during the
 * import, so that it finds the packages of the project.
 */
import { access, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { assertConfig, type CarillonConfig } from "../../api/config.ts"
import type { Host } from "../../runtime/host.ts"
import { UsageError } from "../usage-error.ts"

export interface LoadedConfig {
  readonly config: CarillonConfig
  readonly path: string
  /** The name of the file without its folder. */
  readonly file: string
}

/** A module that may have a default export. */
interface Module {
  readonly default?: unknown
}

const NAMES = ["carillon.config.ts", "carillon.config.js", "carillon.config.mjs"]

/** Loads the chosen file, or the one in the working directory. Returns undefined if there is none. */
export async function loadConfig(host: Host, chosen: string | undefined): Promise<LoadedConfig | undefined> {
  const path = chosen === undefined ? await findConfig(host.facts.cwd) : resolve(host.facts.cwd, chosen)
  if (path === undefined) return undefined
  if (!(await exists(path))) throw new UsageError(`There is no file of configuration ${path}.`)
  const file = basename(path)
  const module = await load(host, path)
  if (!("default" in module)) {
    throw new UsageError(`${file} has no default export. Write \`export default defineConfig({ ... })\`.`)
  }
  assertConfig(file, module.default)
  return { config: module.default, path, file }
}

async function findConfig(folder: string): Promise<string | undefined> {
  const found: string[] = []
  for (const name of NAMES) if (await exists(join(folder, name))) found.push(name)
  if (found.length > 1) {
    throw new UsageError(`There are ${found.join(" and ")}. Choose one with --config, or remove the other.`)
  }
  return found[0] && join(folder, found[0])
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function load(host: Host, path: string): Promise<Module> {
  try {
    return await importFile(path)
  } catch (error) {
    if (!path.endsWith("ts") || !isUnreadableTypeScript(error)) throw failedToLoad(path, error)
    const esbuild = await findEsbuild(path)
    if (esbuild !== undefined) return loadByEsbuild(host, path, esbuild)
    throw codeOf(error) === "ERR_MODULE_NOT_FOUND" ? failedToLoad(path, error) : needsEsbuild(host, path)
  }
}

function needsEsbuild({ facts }: Host, path: string): UsageError {
  return new UsageError(
    `Node ${facts.nodeVersion} cannot read ${basename(path)}. Do one of these: use Node 22.18 or newer; run ` +
      "`npm install --save-dev esbuild`, which Carillon then uses; or write the file in JavaScript, as " +
      "carillon.config.mjs.",
  )
}

async function loadByEsbuild(host: Host, path: string, esbuild: Esbuild): Promise<Module> {
  const bundle = join(dirname(path), `.${basename(path)}.${host.newId()}.mjs`)
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: [path],
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "inline",
      define: { "import.meta.url": JSON.stringify(pathToFileURL(path).href) },
      logLevel: "silent",
      write: false,
    })
    await writeFile(bundle, outputFiles[0]?.contents ?? "")
    return await importFile(bundle)
  } catch (error) {
    throw failedToLoad(path, error)
  } finally {
    await rm(bundle, { force: true })
  }
}

/** The part of esbuild that is used here. */
interface Esbuild {
  readonly build: (
    options: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly outputFiles: readonly { readonly contents: Uint8Array }[] }>
}

/** The project's own esbuild, or the one of its tsx or vite. */
async function findEsbuild(path: string): Promise<Esbuild | undefined> {
  for (const owner of [[], ["tsx"], ["vite"]]) {
    try {
      const place = [...owner, "esbuild"].reduce((from, name) => createRequire(from).resolve(name), path)
      const module = (await import(pathToFileURL(place).href)) as { readonly default?: Esbuild } & Esbuild
      return module.default ?? module
    } catch {
      // It is not installed here.
    }
  }
  return undefined
}

function importFile(path: string): Promise<Module> {
  return import(pathToFileURL(path).href) as Promise<Module>
}

/** Node may also read the file itself, but not what it imports without its `.ts`. */
function isUnreadableTypeScript(error: unknown): boolean {
  const codes = ["ERR_UNKNOWN_FILE_EXTENSION", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_MODULE_NOT_FOUND"]
  return codes.includes(codeOf(error) as string)
}

function codeOf(error: unknown): unknown {
  return ((error ?? {}) as { code?: unknown }).code
}

function failedToLoad(path: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`${basename(path)} could not be loaded: ${message}`, { cause: error })
}
