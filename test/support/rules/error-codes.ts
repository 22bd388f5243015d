/** The codes that src throws, held against the table and the docs. */
import { argumentsOf, isNode, nameOf, nodesOf, type Source, type SyntaxNode, stringOf } from "../sources.ts"

const ERRORS = "src/errors.ts"
const CODE = /^[A-Z]+(?:_[A-Z]+)*$/

/** Codes in the table that no code throws. */
export function unthrownCodes(table: readonly string[], sources: readonly Source[]): string[] {
  const thrown = new Set(thrownCodes(sources))
  return table.filter((code) => !thrown.has(code))
}

/** Codes that are thrown and missing in the table. */
export function unlistedCodes(table: readonly string[], sources: readonly Source[]): string[] {
  return [...new Set(codesGivenToErrors(sources))].filter((code) => !table.includes(code))
}

/** Words that the reference should mention, as code, and does not. */
export function undocumented(words: readonly string[], reference: string): string[] {
  return words.filter((word) => !reference.includes(`\`${word}\``))
}

/** The error classes that users can catch. */
export function errorClasses(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path === ERRORS)
    .flatMap(nodesOf)
    .filter((node) => node.type === "ClassDeclaration")
    .map((node) => nameOf(node.id))
}

function thrownCodes(sources: readonly Source[]): string[] {
  const outside = sources.filter(({ path }) => path !== ERRORS && !path.endsWith(".test.ts"))
  const literals = outside.flatMap(nodesOf).map((node) => stringOf(node) ?? "")
  const made = new Set(outside.flatMap(nodesOf).filter(isNew).map(madeClass))
  return [...literals.filter((text) => CODE.test(text)), ...ownCodes(sources, made)]
}

/** A class with a single code names it itself: `super("OPTIONS_INVALID", ...)`. */
function ownCodes(sources: readonly Source[], made: ReadonlySet<string>): string[] {
  const errors = sources.filter(({ path }) => path === ERRORS).flatMap(nodesOf)
  return errors
    .filter((node) => node.type === "ClassDeclaration" && made.has(nameOf(node.id)))
    .flatMap((node) => errors.filter(({ start, end }) => node.start < start && end <= node.end))
    .flatMap((node) => (isSuperCall(node) ? (stringOf(argumentsOf(node)[0]) ?? []) : []))
}

/** The first argument of every error that is created, in src/errors.ts too. */
function codesGivenToErrors(sources: readonly Source[]): string[] {
  const classes = new Set(["CarillonError", ...errorClasses(sources)])
  return sources
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap(nodesOf)
    .filter((node) => isSuperCall(node) || (isNew(node) && classes.has(madeClass(node))))
    .flatMap((node) => stringOf(argumentsOf(node)[0]) ?? [])
    .filter((text) => CODE.test(text))
}

function isNew({ type }: SyntaxNode): boolean {
  return type === "NewExpression"
}

function madeClass(node: SyntaxNode): string {
  return nameOf(node.callee)
}

function isSuperCall(node: SyntaxNode): boolean {
  return node.type === "CallExpression" && isNode(node.callee) && node.callee.type === "Super"
}
