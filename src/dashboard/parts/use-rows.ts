/** The row that keys act on, and the rows that are selected. */
import { useLayoutEffect, useState } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { copyText } from "./copy-as.tsx"

export interface Rows {
  readonly focused: string | undefined
  readonly selected: ReadonlySet<string>
  readonly toggle: (id: string, range?: boolean) => void
  readonly selectAll: (ids: readonly string[]) => void
  readonly clear: () => void
}

const FIELDS = "input:not([type=checkbox]), textarea, select, dialog, [contenteditable], .menu"

/** `open` is what Enter does. */
export function useRows(ids: readonly string[], open: (id: string) => void): Rows {
  const { say } = useDashboard()
  const [focused, setFocused] = useState<string>()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [anchor, setAnchor] = useState<string>()

  function toggle(id: string, range = false): void {
    const next = new Set(selected)
    if (range && anchor !== undefined) {
      const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)].toSorted((a, b) => a - b)
      for (const one of ids.slice(from, (to ?? 0) + 1)) next.add(one)
    } else if (next.has(id)) next.delete(id)
    else next.add(id)
    setSelected(next)
    setAnchor(id)
  }

  // Before the row is painted: the next key may follow at once.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as Element | null
      if (event.metaKey || event.ctrlKey || event.altKey || target?.closest(FIELDS)) return
      if (localStorage.getItem("carillon.keys") === "off") return
      const at = focused === undefined ? -1 : ids.indexOf(focused)
      const move = (to: number) => {
        const id = ids[Math.max(0, Math.min(ids.length - 1, to))]
        setFocused(id)
        if (id !== undefined)
          document.querySelector(`[data-row="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" })
      }
      if (event.key === "j" || event.key === "ArrowDown") move(at + 1)
      else if (event.key === "k" || event.key === "ArrowUp") move(at < 0 ? 0 : at - 1)
      else if (event.key === "Escape" && selected.size > 0) setSelected(new Set())
      else if (focused === undefined || at < 0) return
      else if (event.key === "Enter" && !target?.closest("a, button")) open(focused)
      else if (event.key === "x" || event.key === "X") toggle(focused, event.shiftKey)
      else if (event.key === "y") {
        void copyText(focused).then(
          (copied) => copied && say({ tone: "fine", title: "Copied.", detail: focused }),
        )
      } else return
      event.preventDefault()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  })

  return {
    focused,
    selected,
    toggle,
    selectAll: (all) => setSelected(new Set(all)),
    clear: () => setSelected(new Set()),
  }
}
