/** Lines that fit a screen, and comments and test names that name their subject. */
import { nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"
import { testTitles } from "./suites.ts"

const MOST_COLUMNS = 120

/** Words that hide who acts: the worker, the claim, the caller, another process. */
const VAGUE = /\b(?:whoever|nobody|somebody)\b/i

/** These folders are being rewritten; each leaves the list as soon as it is clean. */
const BEING_REWRITTEN = [
  "src/engine/",
  "src/operations/",
  "src/api/",
  "src/store/",
  "src/cli/",
  "src/observe/",
  "src/runtime/",
  "bench/",
]

export function longLines(sources: readonly Source[]): string[] {
  return sources
    .filter(isJudged)
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line, index) =>
          line.length > MOST_COLUMNS ? [`${path}:${index + 1} has ${line.length} columns`] : [],
        ),
    )
}

/** Comments that hide who acts. The rule reads comments alone: code and texts for users have tests of their own. */
export function vagueComments(sources: readonly Source[]): string[] {
  return sources
    .filter(isJudged)
    .filter(({ text }) => VAGUE.test(text))
    .flatMap((source) =>
      commentsOf(source).flatMap((comment) => {
        const [word] = VAGUE.exec(comment.text) ?? []
        return word ? [`${source.path}:${lineOf(source, comment.start)} says "${word}" in a comment`] : []
      }),
    )
}

/** Names of tests that hide who acts. */
export function vagueTestNames(suites: readonly Source[]): string[] {
  return suites.filter(isJudged).flatMap((source) =>
    testTitles(source).flatMap((title) => {
      const [word] = VAGUE.exec(title) ?? []
      return word ? [`${source.path} says "${word}" in a name: ${title}`] : []
    }),
  )
}

function isJudged({ path }: Source): boolean {
  return !path.includes(".generated.") && !BEING_REWRITTEN.some((folder) => path.startsWith(folder))
}

interface Comment {
  readonly start: number
  readonly text: string
}

/** What looks like a comment and stands in no string, template or regular expression. */
function commentsOf(source: Source): Comment[] {
  const texts = nodesOf(source).filter(isText)
  return [...source.text.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)]
    .map((match) => ({ start: match.index, text: match[0] }))
    .filter(({ start }) => !texts.some((node) => node.start <= start && start < node.end))
}

function isText(node: SyntaxNode): boolean {
  return node.type === "TemplateElement" || (node.type === "Literal" && isTextual(node))
}

/** A regular expression is a literal as well, and may hold two slashes. */
function isTextual(node: SyntaxNode): boolean {
  return stringOf(node) !== undefined || node.value instanceof RegExp || node.value === null
}

function lineOf({ text }: Source, at: number): number {
  return text.slice(0, at).split("\n").length
}
