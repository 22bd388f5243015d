/** The keys that work on every page. Letters act only outside of fields, and can be switched off. */
import { useEffect } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import type { TimeMode } from "../app/times.ts"
import { PAGES } from "./pages.ts"

/** What lies over the page. */
export type Overlay = "palette" | "shortcuts" | undefined

export const STORED_KEYS = "carillon.keys"
const GO_MS = 1_500

export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  return target?.closest("input, textarea, select, dialog, [contenteditable]") != null
}

export function useKeys(setOverlay: (overlay: Overlay) => void): void {
  const dashboard = useDashboard()
  useEffect(() => {
    let goingUntil = 0
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        setOverlay("palette")
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return
      if (localStorage.getItem(STORED_KEYS) === "off") return
      if (event.timeStamp < goingUntil) {
        goingUntil = 0
        const page = PAGES.find(({ key }) => key === event.key)
        if (page) dashboard.router.go(page.path)
        return
      }
      if (event.key === "g") goingUntil = event.timeStamp + GO_MS
      else if (event.key === "?") setOverlay("shortcuts")
      else if (event.key === "/") {
        const field = document.querySelector<HTMLElement>(".filter input")
        if (field) field.focus()
        else setOverlay("palette")
        event.preventDefault()
      } else if (event.key === "L") dashboard.live.value = !dashboard.live.peek()
      else if (event.key === "z") nextMode(dashboard)
      else if (event.key === "[") document.querySelector<HTMLElement>(".nav-foot button")?.click()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
}

function nextMode({ mode, scheduleZone, router }: ReturnType<typeof useDashboard>): void {
  const modes: TimeMode[] = [
    "local",
    "utc",
    ...(scheduleZone.peek() === undefined ? [] : ["schedule" as const]),
  ]
  const next = modes[(modes.indexOf(mode.peek()) + 1) % modes.length] ?? "local"
  mode.value = next
  router.setParam("time", next === "local" ? undefined : next)
}
