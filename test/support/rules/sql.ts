/** Where SQL may stand, and how its statements are named. */
import { argumentsOf, nameOf, nodesOf, propertyOf, type Source, stringOf } from "../sources.ts"

const STORE = "src/store/"

/**
 * How a text for PostgreSQL begins: a verb and the word that has to follow it. Sentences for people begin with a
 * capital, so only all-lower and all-upper verbs count.
 */
const BEGINNINGS = [
  "select\\s",
  "insert\\s+into\\s",
  "update\\s+(?:only\\s+)?\\S+\\s+(?:as\\s+\\w+\\s+)?set\\s",
  "delete\\s+from\\s",
  "merge\\s+into\\s",
  "truncate\\s",
  "with\\s+(?:recursive\\s+)?\\w+\\s*(?:\\([^)]*\\)\\s*)?as\\s",
  "(?:create|alter|drop)\\s+(?:or\\s+replace\\s+|unique\\s+|temp(?:orary)?\\s+|unlogged\\s+|materialized\\s+)*" +
    "(?:table|schema|index|view|function|procedure|sequence|type|domain|trigger|" +
    "extension|database|role|publication|policy)\\s",
  "(?:set|reset)\\s+(?:local|session|role|search_path)\\b",
  '(?:un)?listen\\s+["{*]',
  "lock\\s+table\\s",
  "explain\\s+(?:\\(|analyze\\b)",
]

const SQL = new RegExp(`^\\s*(?:--.*\\n\\s*)*(?:${[...BEGINNINGS, ...BEGINNINGS.map(upperCase)].join("|")})`)

/** SQL text stands below src/store and nowhere else. */
export function straySql(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !path.startsWith(STORE) && !path.endsWith(".test.ts"))
    .flatMap((source) =>
      nodesOf(source)
        .map((node) => stringOf(node) ?? "")
        .filter((text) => SQL.test(text))
        .map((text) => `${source.path} holds SQL: ${text.trim().split("\n")[0]}`),
    )
}

/**
 * A statement is named by its path below src/store, so that a name in a log leads to its file. Statements that share
 * a file share its folder as a prefix.
 */
export function misnamedStatements(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith(STORE) && !path.endsWith(".test.ts"))
    .flatMap(({ path, ...source }) => {
      const place = path.slice(STORE.length).replace(/\.ts$/, "")
      const folder = place.slice(0, place.lastIndexOf("/") + 1)
      const names = statementNames({ path, ...source })
      return names
        .filter((name) => (names.length === 1 ? name !== place : !name.startsWith(folder) || name === folder))
        .map((name) => `${path} names a statement "${name}"`)
    })
}

/** No two statements have the same name. */
export function repeatedStatements(sources: readonly Source[]): string[] {
  const names = sources.flatMap(statementNames)
  return names.filter((name, index) => names.indexOf(name) !== index)
}

function statementNames(source: Source): string[] {
  return nodesOf(source)
    .filter((node) => node.type === "CallExpression" && nameOf(node.callee) === "statement")
    .map((node) => stringOf(propertyOf(argumentsOf(node)[0], "name")) ?? "(no literal)")
}

/** The verbs in capitals; escapes for white space and names stay as they are. */
function upperCase(pattern: string): string {
  return pattern.replace(/\\[a-zA-Z]|[a-z]+/g, (word) => (word.startsWith("\\") ? word : word.toUpperCase()))
}
