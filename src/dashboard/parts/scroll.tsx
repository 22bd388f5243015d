/** What may be wider than its place: it scrolls by itself, also by the keyboard. */
import type { ComponentChildren } from "preact"

export function Scroll({ children }: { readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <div class="scroll" tabIndex={0}>
      {children}
    </div>
  )
}
