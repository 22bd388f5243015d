/** The text format of COPY, for engines without COPY over a connection: one line per row, tabs between values. */

export type TextRow = readonly (string | null)[]

const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
}
const UNESCAPED = new Map(Object.entries(ESCAPES).map(([value, written]) => [written, value]))

const NULL = "\\N"

export function writeRow(row: TextRow): string {
  const values = row.map((value) => (value === null ? NULL : value.replace(/[\b\f\n\r\t\v\\]/g, escapeOf)))
  return `${values.join("\t")}\n`
}

function escapeOf(character: string): string {
  return ESCAPES[character] ?? character
}

/** The rows of a stream that may be cut anywhere. */
export async function* readRows(source: AsyncIterable<Uint8Array>): AsyncGenerator<TextRow> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) yield readRow(line)
  }
}

function readRow(line: string): TextRow {
  return line.split("\t").map((value) => {
    if (value === NULL) return null
    return value.replace(/\\./g, (written) => UNESCAPED.get(written) ?? written.slice(1))
  })
}
