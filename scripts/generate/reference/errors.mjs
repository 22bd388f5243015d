// Writes docs/reference/errors.md: the table of codes, and the classes with their fields.
import { code, fieldList, page, table } from "./markdown.mjs"
import { declaration, docBefore, fields, parse } from "./syntax.mjs"

const BASE = "CarillonError"
const COMMON_FIELDS = ["name", "code"]

export async function renderErrors({ load, read }) {
  const { ERROR_TABLE } = await load("errors")
  const { STATUSES } = await load("http/statuses")
  const codes = Object.keys(ERROR_TABLE)
  const text = await read("src/errors.ts")
  const classes = readClasses(text, codes)
  const classOf = (one) => classes.find((candidate) => candidate.codes.includes(one))?.name ?? BASE
  return page(
    "# Errors",
    `Every error that Carillon throws on purpose is a ${code(BASE)}. Compare its ${code("code")}, which is ` +
      `stable. Its message may change. ${code("cause")} holds the underlying error, if there is one.`,
    "```ts\n" +
      'import { CarillonError } from "carillon"\n\n' +
      "try {\n  await carillon.enqueue(sendEmail, input)\n} catch (error) {\n" +
      '  if (error instanceof CarillonError && error.code === "DATABASE_UNAVAILABLE") return ' +
      "tryAgainLater()\n  throw error\n}\n```",
    "## Codes",
    `**Retry** (${code("error.retryable")}) says whether a repeat of the same call can succeed. ` +
      "If the outcome of the first call is unknown, a repeat may take effect twice. **HTTP** is the status of the " +
      "answer of [the API](../guide/http.md).",
    table(
      ["Code", "Meaning", "What to do", "Retry", "HTTP", "Class"],
      codes.map((one) => {
        const { means, todo, retryable } = ERROR_TABLE[one]
        return [code(one), means, todo, retryable ? "yes" : "no", String(STATUSES[one]), code(classOf(one))]
      }),
    ),
    "## Classes",
    "Every error has `code`, `message`, `cause` and `retryable`. Some classes have more fields:",
    classes.map((one) =>
      renderClass(
        one,
        codes.filter((candidate) => classOf(candidate) === one.name),
      ),
    ),
    renderFault(text),
  )
}

function renderClass({ name, doc, fields: own }, codes) {
  return page(
    `### ${code(name)}`,
    doc.text,
    codes.length > 0 && `Codes: ${codes.map(code).join(", ")}.`,
    fieldList(own),
  ).trimEnd()
}

function renderFault(text) {
  const fault = declaration(parse(text), "Fault")
  return page(
    `### ${code("Fault")}`,
    docBefore(text, fault.start).text,
    fieldList(fields(text, fault.body.body)),
  ).trimEnd()
}

function readClasses(text, codes) {
  const nodes = parse(text)
  const within = (outer) =>
    nodes.filter(({ start, end }) => outer && outer.start <= start && end <= outer.end)
  return nodes
    .filter(({ type }) => type === "ClassDeclaration")
    .map((node) => ({
      name: node.id.name,
      doc: docBefore(text, node.start),
      fields: fields(text, node.body.body).filter((field) => !COMMON_FIELDS.includes(field.name)),
      codes: node.id.name === BASE ? [] : matching(codes, codeNodes(node, within)),
    }))
}

/** The codes of a class: the type of its parameter `code`, or the one code that it passes to `super`. */
function codeNodes(node, within) {
  const maker = node.body.body.find(({ kind }) => kind === "constructor")
  const parameter = maker?.value.params.find(({ name }) => name === "code")
  const superCall = within(maker).find(({ callee }) => callee?.type === "Super")
  return parameter ? within(parameter) : within(superCall?.arguments[0])
}

/** A literal is one code. A template such as `DATABASE_${string}` stands for all codes with this prefix. */
function matching(codes, nodes) {
  return codes.filter((one) =>
    nodes.some(({ type, value, quasis }) =>
      type === "TSTemplateLiteralType"
        ? one.startsWith(quasis[0].value.raw)
        : type === "Literal" && value === one,
    ),
  )
}
