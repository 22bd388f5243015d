/** Writes HTML in which every value is escaped, unless it is HTML itself. */

export interface Html {
  readonly html: string
}

type Part = Html | string | number | undefined | readonly Part[]

/** Values between the texts are escaped. Lists are joined, and what is undefined leaves nothing. */
export function html(texts: TemplateStringsArray, ...values: readonly Part[]): Html {
  const written = texts.map((text, at) => text + (at < values.length ? write(values[at]) : ""))
  return { html: written.join("") }
}

/** A text in which backquotes mark code. */
export function prose(text: string): Html {
  const parts = text.split("`").map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
  return html`${parts}`
}

const ESCAPED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

function write(part: Part): string {
  if (part === undefined) return ""
  if (typeof part === "string" || typeof part === "number") {
    return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? "")
  }
  return "html" in part ? part.html : part.map(write).join("")
}
