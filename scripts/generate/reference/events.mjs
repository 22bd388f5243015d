// Writes docs/reference/events.md: every event with its fields.
import { anchor, code, fieldList, page, signature, table } from "./markdown.mjs"
import { declaration, docBefore, fields, parse } from "./syntax.mjs"

export async function renderEvents({ read }) {
  const text = await read("src/observe/events.ts")
  const nodes = parse(text)
  const events = declaration(nodes, "CarillonEvent").typeAnnotation.types.map((node) => readEvent(text, node))
  const shared = [...new Set(events.flatMap((event) => event.shared))]
  return page(
    "# Events",
    `${code("carillon.subscribe(listener)")} delivers the events of this process as plain data. Carillon calls ` +
      "listeners synchronously, one after the other, so they should be quick. An error in one listener does not " +
      "affect the others.",
    "```ts\n" +
      "const unsubscribe = carillon.subscribe((event) => {\n" +
      '  if (event.type === "attempt.finished") durations.record(event.job, event.durationMs)\n})\n```',
    table(
      ["Event", "Fields", "Meaning"],
      events.map(({ type, own, shared: parts, doc }) => [
        code(type),
        [
          ...parts.map((name) => `[${name}](#${anchor(name)})`),
          ...own.map((field) => code(signature(field))),
        ].join(", "),
        doc.text,
      ]),
    ),
    shared.map((name) => renderShared(text, declaration(nodes, name))),
  )
}

function renderShared(text, node) {
  return page(
    `## ${node.id.name}`,
    docBefore(text, node.start).text,
    fieldList(fields(text, node.body.body)),
  ).trimEnd()
}

/** An event is a type literal, or a type literal and the names of shared types. */
function readEvent(text, node) {
  const parts = flatten(node)
  const own = parts.filter(({ type }) => type === "TSTypeLiteral").flatMap(({ members }) => members)
  const tag = own.find(({ key }) => key.name === "type")
  return {
    type: tag.typeAnnotation.typeAnnotation.literal.value,
    own: fields(
      text,
      own.filter((member) => member !== tag),
    ),
    shared: parts.filter(({ type }) => type === "TSTypeReference").map(({ typeName }) => typeName.name),
    doc: docBefore(text, node.start),
  }
}

function flatten(node) {
  if (node.type === "TSParenthesizedType") return flatten(node.typeAnnotation)
  return node.type === "TSIntersectionType" ? node.types.flatMap(flatten) : [node]
}
