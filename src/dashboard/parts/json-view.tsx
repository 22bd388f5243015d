/** JSON with colours, as text and nothing but text. */
import type { ComponentChildren } from "preact"

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g
const LONGEST = 200_000

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = value === undefined ? "undefined" : JSON.stringify(value, null, 2)
  const shown =
    text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters` : text
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the label names what scrolls
    <pre class="code" tabIndex={0} aria-label={label}>
      {coloured(shown)}
    </pre>
  )
}

function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, match.index))
    const [whole, words, colon] = match
    if (words !== undefined && colon !== undefined) parts.push(<span class="j-key">{words}</span>, colon)
    else if (words !== undefined) parts.push(<span class="j-text">{words}</span>)
    else parts.push(<span class="j-number">{whole}</span>)
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}
