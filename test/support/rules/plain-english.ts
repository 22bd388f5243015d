/** Lines that fit a screen, and comments and test names that name their subject. */
import { isNode, nameOf, nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"
import { testTitles } from "./suites.ts"

const MOST_COLUMNS = 120

/** Words that hide who acts: the worker, the claim, the caller, another process. */
const VAGUE = /\b(?:whoever|nobody|somebody|anybody)\b/i

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
        const word = vagueWordIn(comment.text)
        return word ? [`${source.path}:${lineOf(source, comment.start)} says "${word}" in a comment`] : []
      }),
    )
}

/** Names of tests, and texts in the rows of `it.each`, that hide who acts. */
export function vagueTestNames(suites: readonly Source[]): string[] {
  return suites.filter(isJudged).flatMap((source) =>
    [...testTitles(source), ...textsOfRows(source)].flatMap((title) => {
      const word = vagueWordIn(title)
      return word ? [`${source.path} says "${word}" in a name: ${title}`] : []
    }),
  )
}

/** A name in backticks is a name, such as the system user `nobody`. */
function vagueWordIn(text: string): string | undefined {
  return VAGUE.exec(text.replace(/`[^`\n]*`/g, ""))?.[0]
}

function isJudged({ path }: Source): boolean {
  return !path.includes(".generated.")
}

/** `it.each`, and not the call of what it returns. */
function isTable(callee: SyntaxNode): boolean {
  return callee.type === "MemberExpression" && nameOf(callee).endsWith(".each")
}

/** Texts of several words in the rows of `it.each`. A single word is a value. */
function textsOfRows(source: Source): string[] {
  const tables = nodesOf(source).filter(
    ({ type, callee }) => type === "CallExpression" && isNode(callee) && isTable(callee),
  )
  return nodesOf(source)
    .filter(({ start, end }) => tables.some((table) => table.start < start && end < table.end))
    .flatMap((node) => stringOf(node) ?? [])
    .filter((text) => text.includes(" "))
}

interface Comment {
  readonly start: number
  readonly text: string
}

function commentsOf(source: Source): Comment[] {
  if (source.path.endsWith(".sql")) return sqlCommentsIn(source.text, 0)
  const texts = nodesOf(source).filter(isText)
  // What looks like a comment and stands in no string, template or regular expression.
  const comments = [...source.text.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)]
    .map((match) => ({ start: match.index, text: match[0] }))
    .filter(({ start }) => !texts.some((node) => node.start <= start && start < node.end))
  const templates = texts.filter(({ type }) => type === "TemplateElement")
  return [
    ...comments,
    ...templates.flatMap(({ start, end }) => sqlCommentsIn(source.text.slice(start, end), start)),
  ]
}

/** The comments of SQL that have a line of their own. */
function sqlCommentsIn(text: string, offset: number): Comment[] {
  return [...text.matchAll(/^[ \t]*--[^\n]*/gm)].map((match) => ({
    start: offset + match.index,
    text: match[0],
  }))
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
