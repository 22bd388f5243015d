/**
 * Rewrites a statement for drivers that convert values: its parameters and its answer are texts, whatever the driver
 * makes of other types.
 */

/** The name of the only column of a rewritten statement: a JSON array with one text or null for each column. */
export const ANSWER = "answer"

/** `columns` are those that the statement returns. Without any, only its parameters are rewritten. */
export function inText(sql: string, columns: readonly string[]): string {
  const text = sql.replace(/\$(\d+)::/g, "$$$1::text::").trim()
  if (columns.length === 0) return text
  const from = mainQueryAt(text)
  const before = from === 0 ? "with " : `${text.slice(0, from).trimEnd()}, `
  const values = columns.map((column) => `returned.${column}::text`).join(", ")
  return `${before}returned as (${text.slice(from)})
  select pg_catalog.json_build_array(${values})::text as ${ANSWER} from returned`
}

/** Where the list of `with` ends. A statement that changes rows may not stand inside another, except in that list. */
function mainQueryAt(sql: string): number {
  if (!/^with\s/.test(sql)) return 0
  let depth = 0
  let at = "with".length
  while (at < sql.length) {
    const [token = ""] = /^(?:--[^\n]*|'[^']*'|"[^"]*"|[(),]|\s+|[^\s(),'"]+)/.exec(sql.slice(at)) ?? []
    if (depth === 0 && /^(?:select|insert|update|delete)$/i.test(token)) return at
    if (token === "(") depth += 1
    if (token === ")") depth -= 1
    at += token.length || 1
  }
  return 0
}
