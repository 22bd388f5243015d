/** The database libraries that people use beside Carillon: their real packages, in a folder of their own. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const FOLDER = fileURLToPath(new URL("doors/", import.meta.url))
/** `npm ci` takes half a minute here. */
const INSTALL_MS = 240_000

export const LIBRARIES = [
  "node-postgres",
  "postgres.js",
  "Drizzle",
  "Drizzle on postgres.js",
  "Kysely",
  "Knex",
  "TypeORM",
  "a query runner of TypeORM",
  "Prisma",
] as const
export type LibraryName = (typeof LIBRARIES)[number]

/** A library on one connection of its own. */
export interface Library {
  /** What is no transaction: a pool, or the client that begins them. */
  readonly root: object
  readonly transaction: (body: (tx: never) => Promise<unknown>) => Promise<unknown>
  /** Runs one statement of the user's. */
  readonly query: (tx: object, sql: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

type Openers = Readonly<Record<LibraryName, (url: string) => Promise<Library>>>

/** Installs the packages, once. `undefined`, with the reason on the console, if that fails: it needs a network. */
export async function installedLibraries(): Promise<Openers | undefined> {
  try {
    if (!existsSync(`${FOLDER}node_modules/carillon-prisma`)) await install()
    const path = `${FOLDER}libraries.mjs`
    const { OPENERS } = (await import(path)) as { readonly OPENERS: Openers }
    return OPENERS
  } catch (error) {
    const names = LIBRARIES.join(", ")
    console.warn(`UNTESTED, because the packages could not be installed: \`tx\` of ${names}.`, error)
    return undefined
  }
}

async function install(): Promise<void> {
  const run = promisify(execFile)
  const options = { cwd: FOLDER, timeout: INSTALL_MS }
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options)
  // To generate a client, Prisma needs no engine, but asks for one. It takes any program that exists.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
  await run("npx", ["prisma", "generate", "--schema", "schema.prisma"], { ...options, env })
}
