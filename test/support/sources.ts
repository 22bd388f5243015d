/** Source files as the rules see them: a path, a text and, on demand, its syntax tree. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "vitest/node"

export interface Source {
  /** From the root of the repository, with slashes: `src/job/define.ts`. */
  readonly path: string
  readonly text: string
}

/** A node of the tree: the parts that the rules look at. Which of them it has depends on its type. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly arguments?: unknown
  readonly callee?: unknown
  readonly exportKind?: unknown
  readonly id?: unknown
  readonly importKind?: unknown
  readonly key?: unknown
  readonly name?: unknown
  readonly object?: unknown
  readonly properties?: unknown
  readonly property?: unknown
  readonly quasis?: unknown
  readonly source?: unknown
  readonly specifiers?: unknown
  readonly tag?: unknown
  readonly value?: unknown
}

export const ROOT = fileURLToPath(new URL("../../", import.meta.url))

/** Every file below `folder` whose name ends with one of `endings`, without installed packages. */
export function readSources(folder: string, ...endings: readonly string[]): Source[] {
  return listFiles(folder)
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }))
}

function listFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return entry.name === "node_modules" || entry.name === ".git" ? [] : listFiles(path)
  })
}

const trees = new WeakMap<Source, SyntaxNode[]>()

/** Every node of the file, each before the nodes inside it. */
export function nodesOf(source: Source): readonly SyntaxNode[] {
  const known = trees.get(source)
  if (known) return known
  const found: SyntaxNode[] = []
  collectNodes(
    parseAst(source.text, { lang: source.path.endsWith(".tsx") ? "tsx" : "ts" }, source.path),
    found,
  )
  trees.set(source, found)
  return found
}

function collectNodes(value: unknown, into: SyntaxNode[]): void {
  if (Array.isArray(value)) for (const entry of value) collectNodes(entry, into)
  else if (isNode(value)) {
    into.push(value)
    for (const part of Object.values(value)) collectNodes(part, into)
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
}

/** The value of a string, or of a template as far as its first gap. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined
  if (node.type !== "TemplateLiteral") return undefined
  const [first] = node.quasis as readonly { readonly value: { readonly raw: string } }[]
  return first?.value.raw
}

/** `a.b.c` for a chain of names, also where it is called on the way: `it.each(rows)` is `it.each`. */
export function nameOf(node: unknown): string {
  if (!isNode(node)) return ""
  if (node.type === "Identifier") return String(node.name)
  if (node.type === "CallExpression" || node.type === "TaggedTemplateExpression") {
    return nameOf(node.callee ?? node.tag)
  }
  if (node.type !== "MemberExpression") return ""
  return `${nameOf(node.object)}.${nameOf(node.property)}`
}

/** The arguments of a call or a `new`. */
export function argumentsOf(node: SyntaxNode): readonly unknown[] {
  return Array.isArray(node.arguments) ? node.arguments : []
}

/** The value of the property `key` in an object literal. */
export function propertyOf(node: unknown, key: string): unknown {
  if (!isNode(node) || !Array.isArray(node.properties)) return undefined
  const properties = node.properties.filter(isNode)
  return properties.find((property) => nameOf(property.key) === key)?.value
}
