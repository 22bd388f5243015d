/** A button that opens a short list of actions. */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { Icon, type IconName } from "../marks/icon.tsx"

interface MenuProps {
  readonly label: string
  readonly text?: ComponentChildren
  readonly icon: IconName
  readonly items: readonly {
    readonly text: string
    readonly icon?: IconName
    readonly refusal?: string | undefined
    readonly onPress: () => void
  }[]
}

export function Menu({ label, text, icon, items }: MenuProps) {
  const [open, setOpen] = useState(false)
  const ref = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!open) return
    ref.current?.querySelector<HTMLElement>(".menu button")?.focus()
    const away = (event: Event) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener("pointerdown", away)
    return () => document.removeEventListener("pointerdown", away)
  }, [open])

  function onKeyDown(event: KeyboardEvent): void {
    const buttons = [...(ref.current?.querySelectorAll<HTMLElement>(".menu button") ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLElement)
    if (event.key === "Escape") {
      setOpen(false)
      ref.current?.querySelector("button")?.focus()
      event.stopPropagation()
    } else if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length]?.focus()
    else if (event.key === "ArrowUp") buttons.at((at - 1) % buttons.length)?.focus()
    else return
    event.preventDefault()
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move among its buttons, which have the focus
    <span class="menu-holder" ref={ref} onKeyDown={open ? onKeyDown : undefined}>
      <button
        type="button"
        class={text === undefined ? "icon-button" : "button"}
        aria-haspopup="true"
        aria-expanded={open}
        aria-label={text === undefined ? label : undefined}
        title={label}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} small={text !== undefined} />
        {text}
      </button>
      {open && (
        <div class="menu">
          {items.map(({ text: words, icon: mark, refusal, onPress }) => (
            <button
              type="button"
              key={words}
              aria-disabled={refusal !== undefined}
              title={refusal}
              onClick={() => {
                if (refusal !== undefined) return
                setOpen(false)
                onPress()
              }}
            >
              {mark && <Icon name={mark} small />}
              {words}
            </button>
          ))}
        </div>
      )}
    </span>
  )
}
