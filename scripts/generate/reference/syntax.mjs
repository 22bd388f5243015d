// Parses TypeScript and the documentation comments of its declarations.
import { parseAst } from "vitest/node"

/** Every node of a source text, parents first. */
export function parse(text) {
  const nodes = []
  const collect = (value) => {
    if (Array.isArray(value)) value.forEach(collect)
    else if (typeof value?.type === "string") {
      nodes.push(value)
      Object.values(value).forEach(collect)
    }
  }
  collect(parseAst(text, { lang: "ts" }))
  return nodes
}

/** The declaration of a class, interface, type or constant by its name. */
export function declaration(nodes, name) {
  const found = nodes.find(({ type, id }) => /Declaration$|Declarator$/.test(type) && id?.name === name)
  if (!found) throw new Error(`The source does not declare ${name}.`)
  return found
}

/** The fields of an interface, a type literal or a class, with their types as text. */
export function fields(text, members) {
  return members
    .filter(({ type }) => /^(TSPropertySignature|PropertyDefinition)$/.test(type))
    .map((member) => ({
      name: member.key.name ?? text.slice(member.key.start, member.key.end),
      optional: member.optional === true,
      type: typeText(text, member.typeAnnotation?.typeAnnotation),
      doc: docBefore(text, member.start),
    }))
}

/** A type on one line, without parts that matter to the compiler only. */
export function typeText(text, node) {
  const written = node ? text.slice(node.start, node.end) : "unknown"
  return written
    .replace(/\s+/g, " ")
    .replace(/\breadonly (?=\w+\??:)/g, "")
    .replace(/ \| undefined$/, "")
}

/** The documentation comment directly before `position`. */
export function docBefore(text, position) {
  const before = text.slice(0, position).replace(/(\s|export|declare|[|(])*$/, "")
  if (!before.endsWith("*/")) return { text: "" }
  return parseDoc(before.slice(before.lastIndexOf("/**")))
}

function parseDoc(comment) {
  const body = comment
    .replace(/^\/\*\*\s*|\s*\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
  const [text = "", ...tags] = body.split(/(?:^|\s)@(?=[a-z]+\b)/)
  const found = tags.find((tag) => tag.startsWith("default"))
  const example = tags.find((tag) => tag.startsWith("example"))
  return {
    text: unwrap(text),
    default: found?.replace(/^default\s+/, "").trim(),
    ...(example && { example: example.replace(/^example\s+/, "").trim() }),
  }
}

/** Joins continuation lines to their paragraph or list item. */
function unwrap(text) {
  return text.trim().replace(/([^\n])\n(?!\n|- )\s*/g, "$1 ")
}
