/** The list of keys, and the switch that turns letters off. */
import { useState } from "preact/hooks"
import { Dialog } from "../parts/dialog.tsx"
import { STORED_KEYS } from "./keys.ts"
import { PAGES } from "./pages.ts"

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["Ctrl K", "search, jump or act"],
  ["/", "filter"],
  ["?", "this list"],
  ["j k", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "mark or unmark the row"],
  ["y", "copy the id of the row"],
  ["z", "next time mode"],
  ["L", "pause live changes"],
  ["[", "narrow the navigation"],
  ["Esc", "close, then clear the selection"],
]

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const [off, setOff] = useState(localStorage.getItem(STORED_KEYS) === "off")
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="facts">
        {KEYS.map(([keys, does]) => (
          <>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
        {PAGES.map(({ key, title }) => (
          <>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
      </dl>
      <label class="tick">
        <input
          type="checkbox"
          checked={!off}
          data-first
          onChange={() => {
            localStorage.setItem(STORED_KEYS, off ? "on" : "off")
            setOff(!off)
          }}
        />
        Letters work as keys
      </label>
    </Dialog>
  )
}
