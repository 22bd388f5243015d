/** A filter as people see it: a text of terms, each of which can be taken out. The server reads what they mean. */

/** The terms, apart at spaces outside of quotes. */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  let term = ""
  let inQuotes = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (inQuotes && char === "\\") {
      term += char + text.charAt(at + 1)
      at += 1
      continue
    }
    if (char === '"') inQuotes = !inQuotes
    if (/\s/.test(char) && !inQuotes) {
      if (term !== "") terms.push(term)
      term = ""
    } else term += char
  }
  return term === "" ? terms : [...terms, term]
}

/** The terms as one text. */
export function textOf(terms: readonly string[]): string {
  return terms.join(" ")
}

/** A word of a filter, in quotes where it needs them. */
export function quoted(word: string): string {
  return /^[\w.@/+-]+$/.test(word) ? word : JSON.stringify(word)
}

/** `job:` and `invoice.*` of `job:invoice.*`. */
export function partsOf(term: string): { readonly field: string; readonly value: string } {
  const match = /^(-?[^:<>=!]+(?::|>=|<=|!=|=|>|<))(.*)$/s.exec(term)
  return match ? { field: match[1] ?? "", value: match[2] ?? "" } : { field: "", value: term }
}

/** Whether a term is about this field. */
export function isAbout(term: string, field: string): boolean {
  return new RegExp(`^-?${field}(:|>=|<=|!=|=|>|<)`).test(term)
}

/** What people may type, in the order in which they mostly need it. */
export const FIELD_HINTS: readonly (readonly [start: string, says: string])[] = [
  ["job:", "the job, or its beginning and *"],
  ["pool:", "the pool"],
  ["tenant:", "the tenant"],
  ["schedule:", "the schedule that made it"],
  ["error:", "the code of its error"],
  ["worker:", "the worker that has or had it"],
  ["tag:", "one of its tags"],
  ["key:", "its idempotency key"],
  ["due<", "due before a time: -1h, 2026-03-01"],
  ["finished>", "ended after a time: -1h"],
  ["enqueued>", "enqueued after a time"],
  ["duration>", "took longer than: 5s, 2m"],
  ["priority>", "above a priority"],
  ["attempt>", "more attempts than"],
  ["input.", "a value in its input: input.customer.id=42"],
  ["fingerprint:", "errors that are alike"],
  ["id:", "its id"],
]
