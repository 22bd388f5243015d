/** Lines that fit a screen, and comments and texts that name their subject. */
import { nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"

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

/** Comments that hide who acts. The rule reads comments alone. */
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

/** Texts of several words that hide who acts: names of tests, messages, titles. A single word is a value. */
export function vagueTexts(sources: readonly Source[]): string[] {
  return sources
    .filter(isJudged)
    .filter(({ path, text }) => !path.endsWith(".sql") && VAGUE.test(text))
    .flatMap((source) =>
      nodesOf(source).flatMap((node) => {
        const text = textOf(node)
        const word = text.includes(" ") ? vagueWordIn(text) : undefined
        return word ? [`${source.path}:${lineOf(source, node.start)} says "${word}" in a text`] : []
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

function textOf({ type, value }: SyntaxNode): string {
  if (type === "TemplateElement") return (value as { readonly raw: string }).raw
  return type === "Literal" && typeof value === "string" ? value : ""
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
