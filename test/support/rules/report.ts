/** The report of the benchmark needs no package, so it can be written where no peer is installed. */
import { isBuiltin } from "node:module"
import type { Source } from "../sources.ts"
import { importsOf } from "./imports.ts"

const REPORT = "bench/report.mjs"

/** The files behind the report that import a package. */
export function packagesOfTheReport(sources: readonly Source[]): string[] {
  return reachedFrom(REPORT, new Map(sources.map((source) => [source.path, source])))
    .flatMap(importsOf)
    .filter(({ target, specifier }) => target === undefined && !isBuiltin(specifier))
    .map(({ from, specifier }) => `${from.path} imports ${specifier}`)
}

function reachedFrom(entry: string, sources: ReadonlyMap<string, Source>): Source[] {
  const reached = new Set([entry])
  for (const path of reached) {
    const source = sources.get(path)
    for (const { target } of source ? importsOf(source) : []) if (target) reached.add(target)
  }
  return [...reached].flatMap((path) => sources.get(path) ?? [])
}
