/** The rings of src as data, and the rules about imports between them. */
import { isBuiltin } from "node:module"
import type { Source } from "../sources.ts"
import { allImports, type Import } from "./imports.ts"

/** From the inside to the outside. A part is a folder of src, or a file that stands there alone. */
const RINGS: readonly (readonly string[])[] = [
  [
    ...[
      "time",
      "options",
      "errors.ts",
      "error-table.ts",
      "run-errors.ts",
      "schedule-errors.ts",
      "http-errors.ts",
    ],
    "defaults.ts",
  ],
  ["job", "schedule", "queue", "filter", "stats"],
  ["runtime", "store", "observe"],
  ["engine"],
  ["operations"],
  ["api"],
  ["http", "cli", "dashboard", "testing", "index.ts"],
]

/** Rings 0 to this one are pure: values in, values out. */
const OUTERMOST_PURE_RING = 1

/** What a part may import from its own ring. A part without an entry imports nothing from it. */
const SIDEWAYS: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": ["error-table.ts"],
  "error-table.ts": ["http-errors.ts", "run-errors.ts", "schedule-errors.ts"],
  time: ["errors.ts"],
  options: ["time", "errors.ts"],
  schedule: ["job"],
  queue: ["job"],
  filter: ["queue"],
  runtime: ["store"],
  store: ["runtime"],
  observe: ["runtime"],
  cli: ["http"],
  dashboard: ["http"],
}

/** Rings further in that these parts may not import: they reach the database through `api`. */
const OUT_OF_REACH: Readonly<Record<string, readonly string[]>> = {
  http: ["store", "engine", "operations"],
  cli: ["store", "engine", "operations"],
  dashboard: ["store", "engine", "operations"],
}

/** The packages that src uses, and the only place for each. */
const PACKAGE_HOMES: Readonly<Record<string, string>> = {
  // The file of configuration of the user, and the esbuild that reads it.
  "(computed)": "src/cli/settings/config-file.ts",
  commander: "src/cli/program.ts",
  pg: "src/store/server/",
  "@electric-sql/pglite": "src/store/pglite.ts",
  "@hono/node-server": "src/cli/serving/node-server.ts",
  "@hono/zod-openapi": "src/http/",
  preact: "src/dashboard/",
  "preact/hooks": "src/dashboard/",
  "@preact/signals": "src/dashboard/",
  uplot: "src/dashboard/",
  "uplot/dist/uPlot.min.css": "src/dashboard/",
}

/** What the tests beside the code may import as well. */
const TEST_PACKAGES = ["vitest", "fast-check", "zod"]

/** Every folder and lone file of src has a place in the rings. */
export function homeless(sources: readonly Source[]): string[] {
  const parts = new Set(sources.map(({ path }) => partOf(path)))
  return [...parts].filter((part) => ringOf(part) < 0).map((part) => `src/${part} is in no ring`)
}

/** No file imports from a ring outside its own. */
export function outwardImports(sources: readonly Source[]): string[] {
  return crossings(sources)
    .filter(({ part, other }) => ringOf(other) > ringOf(part))
    .map(describe)
}

/** Parts of one ring do not import each other, except as `SIDEWAYS` allows. */
export function sidewaysImports(sources: readonly Source[]): string[] {
  return crossings(sources)
    .filter(({ part, other }) => ringOf(other) === ringOf(part) && !SIDEWAYS[part]?.includes(other))
    .map(describe)
}

/** The outermost ring takes no shortcut to the database. */
export function shortcuts(sources: readonly Source[]): string[] {
  return crossings(sources)
    .filter(({ part, other }) => OUT_OF_REACH[part]?.includes(other))
    .map(describe)
}

/** The dashboard is a page of its own: it imports the types of http, not its code. */
export function dashboardImports(sources: readonly Source[]): string[] {
  return crossings(sources)
    .filter(({ part, other, typeOnly }) => part === "dashboard" && (other !== "http" || !typeOnly))
    .map(describe)
}

/** Rings 0 and 1 import no part of Node. */
export function impureImports(sources: readonly Source[]): string[] {
  return allImports(sources.filter(isProduction))
    .filter(({ from, specifier }) => isBuiltin(specifier) && ringOf(partOf(from.path)) <= OUTERMOST_PURE_RING)
    .map(describe)
}

/** Every package is imported in one place and nowhere else. */
export function strayPackages(sources: readonly Source[]): string[] {
  return allImports(sources)
    .filter(({ target, specifier }) => target === undefined && !isBuiltin(specifier))
    .filter(({ from, specifier }) => {
      if (!isProduction(from) && TEST_PACKAGES.includes(specifier)) return false
      const home = PACKAGE_HOMES[specifier]
      return home === undefined || !from.path.startsWith(home)
    })
    .map(describe)
}

/** No file leads back to itself, not even by types: such files can only be understood together. */
export function importCycles(sources: readonly Source[]): string[] {
  const targets = new Map(
    sources.map((source) => [
      source.path,
      allImports([source])
        .filter(counts)
        .flatMap(({ target }) => target ?? []),
    ]),
  )
  const cycles: string[] = []
  const finished = new Set<string>()

  function visit(path: string, trail: readonly string[]): void {
    const seenAt = trail.indexOf(path)
    if (seenAt >= 0) cycles.push([...trail.slice(seenAt), path].join(" -> "))
    if (seenAt >= 0 || finished.has(path)) return
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path])
    finished.add(path)
  }

  for (const path of targets.keys()) visit(path, [])
  return cycles
}

/** Generated data may name the type of its content, where the code that reads it is. */
function counts({ from, typeOnly }: Import): boolean {
  return !(typeOnly && from.path.endsWith(".generated.ts"))
}

interface Crossing extends Import {
  readonly part: string
  readonly other: string
}

/** The imports that leave the part of their file. */
function crossings(sources: readonly Source[]): Crossing[] {
  return allImports(sources).flatMap((found) => {
    if (found.target === undefined) return []
    const part = partOf(found.from.path)
    const other = partOf(found.target)
    return part === other ? [] : [{ ...found, part, other }]
  })
}

/** `src/job/define.ts` belongs to `job`, `src/errors.ts` to itself. */
function partOf(path: string): string {
  return path.split("/")[1] ?? path
}

function ringOf(part: string): number {
  return RINGS.findIndex((ring) => ring.includes(part))
}

function isProduction({ path }: Source): boolean {
  return !path.endsWith(".test.ts")
}

function describe({ from, target, specifier }: Import): string {
  return `${from.path} imports ${target ?? specifier}`
}
