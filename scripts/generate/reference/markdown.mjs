// Markdown helpers of the reference pages.

export function table(headings, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`
  const escaped = rows.map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")))
  return [line(headings), line(headings.map(() => "---")), ...escaped.map(line)].join("\n")
}

export function code(text) {
  return `\`${text}\``
}

/** Joins parts with an empty line between them. Leaves out empty parts. */
export function page(...parts) {
  return `${parts.flat().filter(Boolean).join("\n\n")}\n`
}

/** The anchor that a heading gets on GitHub. */
export function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")
}

/** Fields as a list: `name?: type`, and their documentation. */
export function fieldList(fields) {
  return fields
    .map((field) => `- ${code(signature(field))}${field.doc.text && `: ${field.doc.text}`}`)
    .join("\n")
}

export function signature({ name, optional, type }) {
  return `${name}${optional ? "?" : ""}: ${type}`
}
