// Writes docs/reference/api.md: every public name with its members and their documentation.
import { createReader, ENTRIES, find } from "./api.mjs"
import { anchor, code, page } from "./markdown.mjs"
import { docBefore, fields } from "./syntax.mjs"

/** Names with a page of their own. */
const ELSEWHERE = [
  { page: "errors.md", is: ({ name, nodes }) => nodes[0].type === "ClassDeclaration" || name === "Fault" },
  { page: "events.md", is: ({ name }) => /^(CarillonEvent|AttemptFacts)$/.test(name) },
]

export async function renderMembers({ readTypes }) {
  const doors = await publicNames(readTypes)
  return page(
    "# The API",
    "Every public name, with its members. [Options](options.md) describes each option with its default, and " +
      "[Errors](errors.md) each error.",
    doors.flatMap(({ door, names }) => [
      `## ${code(door)}`,
      names.map(({ name }) => `[${code(name)}](#${anchor(name)})`).join(",\n"),
      ...names.flatMap(renderName),
    ]),
  )
}

/** Every public name and member without documentation. */
export async function undocumentedMembers(readTypes) {
  const doors = await publicNames(readTypes)
  return doors.flatMap(({ names }) =>
    names.flatMap(({ name, doc, members, elsewhere }) => [
      ...(doc.text === "" && !elsewhere ? [name] : []),
      ...(elsewhere
        ? []
        : members.filter((member) => member.doc.text === "").map((member) => `${name}.${member.name}`)),
    ]),
  )
}

async function publicNames(readTypes) {
  const open = createReader(readTypes, (text) => text)
  const told = new Set()
  const doors = []
  for (const { name: door, file } of ENTRIES) {
    const { exported } = await open(file)
    const found = await Promise.all([...exported].map(([, source]) => find(open, source)))
    const fresh = found.filter(({ key }) => !told.has(key))
    for (const { key } of fresh) told.add(key)
    doors.push({ door, names: fresh.map(describe).sort(byKindAndName) })
  }
  return doors
}

function describe(found) {
  const { name, nodes, source } = found
  const [node] = nodes
  const elsewhere = ELSEWHERE.find(({ is }) => is(found))?.page
  const isCall = node.type === "TSDeclareFunction" || node.type === "FunctionDeclaration"
  const doc = nodes.map(({ start }) => docBefore(source, start)).find(({ text }) => text !== "") ?? {
    text: "",
  }
  return { name, doc, elsewhere, isCall, members: membersOf(found, node), shape: shapeOf(source, node) }
}

/** Functions come first, then the types that they use. */
function byKindAndName(a, b) {
  return Number(b.isCall) - Number(a.isCall) || (a.name < b.name ? -1 : 1)
}

/** The members of an interface, including those of a base that is not public, or of a type literal. */
function membersOf(found, node) {
  const { source } = found
  if (node.type === "TSInterfaceDeclaration") {
    return [...known(source, node.body.body), ...node.extends.flatMap((parent) => inherited(found, parent))]
  }
  if (node.type !== "TSTypeAliasDeclaration") return []
  return written(node.typeAnnotation).flatMap((literal) => known(source, literal.members))
}

/** `Limits`, `Pick<Limits, "startAt">` and `Omit<Limits, "startAt">`. */
function inherited(found, { expression, typeArguments }) {
  const [base, keys] = typeArguments?.params ?? []
  const name = base?.typeName?.name ?? expression.name
  if (found.exported.has(name)) return []
  const members = (found.declared.get(name) ?? []).flatMap(({ node }) => membersOf(found, node))
  const listed = (keys?.types ?? (keys ? [keys] : [])).map(({ literal }) => literal?.value)
  if (expression.name === "Pick") return members.filter((member) => listed.includes(member.name))
  return expression.name === "Omit" ? members.filter((member) => !listed.includes(member.name)) : members
}

function known(source, members) {
  // Users do not write symbol keys.
  const named = members.filter((member) => !member.computed || member.key.type === "MemberExpression")
  return fields(source, named).map((field) =>
    field.name === "Symbol.asyncDispose" ? { ...field, name: "[Symbol.asyncDispose]", doc: DISPOSE } : field,
  )
}

const DISPOSE = { text: "Supports `await using`: closes it at the end of the block." }

function written(node) {
  if (node.type === "TSTypeLiteral") return [node]
  if (node.type === "TSParenthesizedType") return written(node.typeAnnotation)
  return node.type === "TSIntersectionType" ? node.types.flatMap(written) : []
}

/** The declaration without its members and without types that only carry compiler messages. */
function shapeOf(source, node) {
  const between = (start, end) =>
    source
      .slice(start, end)
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/ & (JobFault<[^>]*>|MisnamedOf\w+)/g, "")
      .replace(/\s+/g, " ")
      .trim()
  if (node.type === "TSInterfaceDeclaration") return between(node.id.start, node.body.start)
  if (node.type === "TSTypeAliasDeclaration") return between(node.id.start, node.end).replace(/;$/, "")
  return between(node.start, node.end)
    .replace(/^(export )?(declare )?/, "")
    .replace(/;$/, "")
}

function renderName({ name, doc, elsewhere, members, shape }) {
  if (elsewhere)
    return [
      `### ${code(name)}`,
      `See [${elsewhere.replace(".md", "")}](${elsewhere}${name === "CarillonEvent" ? "" : `#${anchor(name)}`}).`,
    ]
  const isBare = members.length > 0 && !shape.includes(" = ") && shape === name
  return [
    `### ${code(name)}`,
    doc.text,
    doc.example && `\`\`\`ts\n${doc.example}\n\`\`\``,
    !isBare && `\`\`\`ts\n${shape}\n\`\`\``,
    members.length > 0 &&
      members
        .map(
          (member) =>
            `- ${code(`${member.name}${member.optional ? "?" : ""}: ${member.type}`)}: ${inline(member.doc)}`,
        )
        .join("\n"),
  ].filter(Boolean)
}

/** Joins the items of a nested list to one line. */
function inline({ text, default: fallback }) {
  const said = text.replace(/\n\n?- /g, "\n  - ").replace(/\n\n/g, " ")
  return fallback ? `${said} Default: ${fallback}.` : said
}
