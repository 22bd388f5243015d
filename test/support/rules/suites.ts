/** What test files may not do: repeat a name, or leave a test out. */
import { argumentsOf, isNode, nameOf, nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"

const LEAVES_OUT = /^(?:it|test|describe|suite)\b.*\.(?:skip|only|todo)\b/
const GROUP = /^(?:describe|suite)(?:Engines)?\b/
const TEST = /^(?:it|test)(?:WithConnections)?\b/

/** A skipped test proves nothing, and a test with `only` hides the others. */
export function leftOutTests(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    nodesOf(source)
      .filter(({ type }) => type === "MemberExpression")
      .map(nameOf)
      .filter((name) => LEAVES_OUT.test(name))
      .map((name) => `${source.path} says ${name}`),
  )
}

/** A report shows a test by its groups and its name: two equal ones cannot be told apart. */
export function repeatedTestNames(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const names = testNames(source)
    const repeated = names.filter((name, index) => names.indexOf(name) !== index)
    return repeated.map((name) => `${source.path} says twice: ${name}`)
  })
}

/** Every name of a group or a test, as it is written. */
export function testTitles(source: Source): string[] {
  return nodesOf(source)
    .filter(({ type }) => type === "CallExpression")
    .filter((call) => GROUP.test(nameOf(call)) || TEST.test(nameOf(call)))
    .flatMap((call) => titleOf(call) ?? [])
}

function testNames(source: Source): string[] {
  const calls = nodesOf(source).filter(({ type }) => type === "CallExpression")
  const groups = calls.filter((call) => GROUP.test(nameOf(call)) && titleOf(call))
  return calls
    .filter((call) => TEST.test(nameOf(call)) && titleOf(call))
    .map((call) => {
      const around = groups.filter((group) => group.start < call.start && call.end <= group.end)
      return [...around, call].map(titleOf).join(" > ")
    })
}

/** The title as it is written; `it.each(rows)` alone has none. */
function titleOf(call: SyntaxNode): string | undefined {
  const [title, body] = argumentsOf(call)
  return isNode(body) ? stringOf(title) : undefined
}
