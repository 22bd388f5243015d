/** The shape of every file: short, named for its content, opened by a sentence. */
import { posix } from "node:path"
import { nodesOf, type Source } from "../sources.ts"

/** Beyond this a file is certainly two; look for the seam from 250 lines on. */
const MOST_LINES = 400

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|test-d|generated|d))?\.(?:ts|tsx|mts|mjs)$/
const MIGRATION = /^\d{4}_[a-z0-9]+(?:_[a-z0-9]+)*\.sql$/

/** Names that say which syntax is inside, or nothing at all. */
const EMPTY_NAMES = ["util", "utils", "helper", "helpers", "type", "types", "misc", "common", "classes"]

/** A program's first line names its interpreter. */
const OPENS_WITH_A_SENTENCE = /^(?:#!.*\n)?\/\*\*/

export function longFiles(sources: readonly Source[]): string[] {
  return sources
    .filter((source) => !isGenerated(source))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines; ${MOST_LINES} are the most`)
}

/** A file opens with what it is for, or its first export says it. */
export function unexplainedFiles(sources: readonly Source[]): string[] {
  return sources
    .filter((source) => !source.path.endsWith(".test.ts") && !isGenerated(source))
    .filter((source) => !OPENS_WITH_A_SENTENCE.test(source.text) && !opensWithExplainedExport(source))
    .map(({ path }) => `${path} does not say what it is for`)
}

function opensWithExplainedExport(source: Source): boolean {
  const firstExport = nodesOf(source).find(({ type }) => type === "ExportNamedDeclaration")
  return firstExport !== undefined && source.text.slice(0, firstExport.start).trimEnd().endsWith("*/")
}

export function misnamedFiles(sources: readonly Source[]): string[] {
  return sources
    .map(({ path }) => path)
    .filter((path) => {
      const name = posix.basename(path)
      return !(name.endsWith(".sql") ? MIGRATION : KEBAB_CASE).test(name)
    })
    .map((path) => `${path} is not in kebab-case`)
}

/** `test/types` is the one exception: types are what is tested there. */
export function meaninglessNames(sources: readonly Source[]): string[] {
  return sources
    .map(({ path }) => path)
    .filter((path) => {
      const words = path.replace(/^test\/types\//, "").split("/")
      return words.some((word) => EMPTY_NAMES.includes(word.replace(/\..*$/, "")))
    })
    .map((path) => `${path} does not say what is inside`)
}

function isGenerated({ path }: Source): boolean {
  return path.endsWith(".generated.ts")
}
