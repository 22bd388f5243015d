// Writes test/api.snapshot.md: the public names with their types. A change of the API shows in its diff.
import { posix } from "node:path"
import { page } from "./markdown.mjs"
import { parse } from "./syntax.mjs"

export const ENTRIES = [
  { name: "carillon", file: "index.ts" },
  { name: "carillon/testing", file: "testing/index.ts" },
  { name: "carillon/http", file: "http/index.ts" },
]

export async function renderApi({ readTypes }) {
  const open = createReader(readTypes)
  const told = new Map()
  const sections = []
  for (const { name, file } of ENTRIES) {
    const { exported } = await open(file)
    const own = await Promise.all([...exported].map(([, source]) => find(open, source)))
    sections.push({ title: `\`${name}\``, declarations: own.map((found) => told.get(found.key) ?? found) })
    for (const found of own) told.set(found.key, { ...found, text: `// ${found.name}, as in ${name}` })
  }
  return page(
    "# The public API",
    "The public names and their types. A change here affects users: describe it in CHANGELOG.md. A removal needs a " +
      "major version. `npm run generate` writes this file.",
    sections.map(renderSection),
    renderSection({ title: "Behind these", declarations: await reachable(open, told) }),
  )
}

function renderSection({ title, declarations }) {
  const sorted = declarations.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return page(`## ${title}`, `\`\`\`ts\n${sorted.map(({ text }) => text).join("\n\n")}\n\`\`\``).trimEnd()
}

/** Declarations that public ones mention and that are not public themselves. */
async function reachable(open, told) {
  const behind = []
  const pending = [...told.values()]
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const source of next.mentions) {
      const found = await find(open, source)
      if (told.has(found.key)) continue
      told.set(found.key, found)
      behind.push(found)
      pending.push(found)
    }
  }
  return behind
}

/** The declarations of a name: several if it is overloaded. */
export async function find(open, { file, name }) {
  const { exported, declared, mentions, source } = await open(file)
  const passedOn = exported.get(name)
  if (!declared.has(name) && passedOn) return find(open, passedOn)
  const nodes = declared.get(name)
  if (!nodes) throw new Error(`${file} does not declare ${name}`)
  return {
    key: `${file}:${name}`,
    name,
    text: nodes.map(({ text }) => text).join("\n"),
    mentions: nodes.flatMap(mentions),
    nodes: nodes.map(({ node }) => node),
    source,
    exported,
    declared,
  }
}

/** Reads a declaration file once: its exports, its declarations and its imports. */
export function createReader(readTypes, prepare = stripComments) {
  const files = new Map()
  return (file) => {
    if (!files.has(file))
      files.set(
        file,
        readTypes(file).then((text) => readFile(file, prepare(text))),
      )
    return files.get(file)
  }
}

function readFile(file, text) {
  const nodes = parse(text)
  const resolve = (source) => posix.join(posix.dirname(file), source)
  const exported = new Map()
  const imported = new Map()
  const declared = new Map()
  for (const { type, source, specifiers = [] } of nodes) {
    if (!source?.value?.startsWith(".") || !/^(Import|ExportNamed)Declaration$/.test(type)) continue
    for (const { local, imported: foreign, exported: alias } of specifiers) {
      if (type === "ImportDeclaration") {
        imported.set(local.name, { file: resolve(source.value), name: foreign.name })
      } else {
        exported.set(alias.name, { file: resolve(source.value), name: local.name })
      }
    }
  }
  for (const statement of nodes[0].body) {
    const node = statement.declaration ?? statement
    const name = node.id?.name ?? node.declarations?.[0].id.name
    if (!name) continue
    declared.set(name, [...(declared.get(name) ?? []), { node, text: present(text, node) }])
  }
  const mentions = ({ node }) =>
    nodes
      .filter(({ start, end }) => node.start <= start && end <= node.end)
      .flatMap((inner) => {
        if (inner.type === "TSImportType") {
          return { file: resolve(inner.source.value), name: inner.qualifier.name }
        }
        const name = referredName(inner)
        return imported.get(name) ?? (declared.has(name) ? { file, name } : [])
      })
  return { exported, declared, mentions, source: text }
}

/** The name in a type reference, a `typeof` or an `extends`. */
function referredName({ typeName, exprName, superClass, type, expression }) {
  const heritage = type === "TSInterfaceHeritage" ? expression : undefined
  return (typeName ?? exprName ?? superClass ?? heritage)?.name
}

/** Shows only the keys of a table that types derive from: a new wording of its texts does not change the API. */
function present(text, node) {
  const written = text.slice(node.start, node.end)
  const table = node.declarations?.[0].id.typeAnnotation?.typeAnnotation
  if (table?.type !== "TSTypeLiteral") return tidy(written)
  const keys = table.members.map(({ key }) => `  ${key.name}: ...`)
  return `const ${node.declarations[0].id.name}: {\n${keys.join("\n")}\n}`
}

function tidy(text) {
  return text
    .replace(/^declare /, "")
    .replace(/ +$/gm, "")
    .replaceAll("    ", "  ")
    .replace(/;$/gm, "")
    .replace(/\n *\| /g, " | ")
    .replace(/^"/gm, '  "')
}

/** Removes comments and the lines that hold nothing else. Keeps strings that look like comments. */
function stripComments(text) {
  return text
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|\/\/.*/g, (_, string) => string ?? "")
    .replace(/^\s*\n/gm, "")
}
