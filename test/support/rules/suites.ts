/** What test files may not do: say the same name twice, or leave a test out. */
import { argumentsOf, isNode, nameOf, nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"

const LEAVES_OUT = /^(?:it|test|describe|suite)\b.*\.(?:skip|only|todo)\b/
const GROUP = /^(?:describe|suite)\b/
const TEST = /^(?:it|test)\b/

/** A test that is skipped proves nothing, and one that is alone hides the others. */
export function leftOutTests(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    nodesOf(source)
      .filter(({ type }) => type === "MemberExpression")
      .map(nameOf)
      .filter((name) => LEAVES_OUT.test(name))
      .map((name) => `${source.path} says ${name}`),
  )
}

/** A test is known by its groups and its name: two of the same cannot be told apart in a report. */
export function repeatedTestNames(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const names = testNames(source)
    const repeated = names.filter((name, index) => names.indexOf(name) !== index)
    return repeated.map((name) => `${source.path} says twice: ${name}`)
  })
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
