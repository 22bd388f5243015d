/** Code to take away, in several tongues, with a button that copies it. */
import { useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { IconButton } from "./button.tsx"
import { copyText } from "./copy-as.tsx"

interface SnippetProps {
  readonly label: string
  readonly texts: readonly (readonly [name: string, text: string])[]
}

export function Snippet({ label, texts }: SnippetProps) {
  const { say } = useDashboard()
  const [chosen, setChosen] = useState(0)
  const text = texts[chosen]?.[1] ?? ""
  return (
    <div class="snippet">
      <div class="snippet-head">
        <span role="tablist" aria-label={label}>
          {texts.map(([name], index) => (
            <button
              type="button"
              role="tab"
              key={name}
              aria-selected={index === chosen}
              onClick={() => setChosen(index)}
            >
              {name}
            </button>
          ))}
        </span>
        <span class="end" />
        <IconButton
          icon="copy"
          label="Copy"
          small
          onPress={() => {
            void copyText(text).then((copied) => {
              if (copied) say({ tone: "fine", title: "Copied." })
            })
          }}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}
