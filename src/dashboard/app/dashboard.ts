/** What all parts of the page share: the address, the API, the clock, the theme, the connection, the messages. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { type Api, createApi } from "./api.ts"
import type { Session } from "./records.ts"
import { createRouter, type Router } from "./route.ts"
import { localZone, type TimeMode } from "./times.ts"

export type Theme = "system" | "light" | "dark"

export interface Toast {
  readonly id: number
  readonly tone: "fine" | "problem" | "notice"
  readonly title: string
  readonly detail?: string
  readonly link?: { readonly label: string; readonly path: string }
  readonly undo?: () => void
}

export interface Dashboard {
  readonly api: Api
  readonly router: Router
  /** Now by the server's clock, once a second; it stands still while the connection is lost. */
  readonly nowMs: ReadonlySignal<number>
  /** Sets the clock by that of the database. */
  readonly setClock: (databaseMs: number) => void
  readonly mode: Signal<TimeMode>
  /** The zone of the schedule on this page, if there is one. */
  readonly scheduleZone: Signal<string | undefined>
  /** The zone in which times are written. */
  readonly zone: ReadonlySignal<string>
  readonly theme: Signal<Theme>
  readonly live: Signal<boolean>
  /** Counts up when something may have changed; lists read again. */
  readonly pulse: Signal<number>
  /** When the last answer came, if answers have stopped coming. */
  readonly lostSince: Signal<number | undefined>
  readonly session: Signal<Session | undefined>
  readonly denied: Signal<boolean>
  readonly token: Signal<string | undefined>
  readonly toasts: Signal<readonly Toast[]>
  readonly say: (toast: Omit<Toast, "id">) => void
  readonly dismiss: (id: number) => void
  /** Why an action that needs this scope is not possible; `undefined` if it is. */
  readonly refusal: (scope: "operate" | "enqueue" | "admin") => string | undefined
}

const STORED_THEME = "carillon.theme"
const STORED_TOKEN = "carillon.token"
const TOAST_MS = 10_000
const LEAST_SKEW_MS = 2_000

export function createDashboard(base: string): Dashboard {
  const router = createRouter(base)
  const token = signal<string | undefined>(sessionStorage.getItem(STORED_TOKEN) ?? undefined)
  const skewMs = signal(0)
  const tick = signal(Date.now())
  const lostSince = signal<number | undefined>(undefined)
  const denied = signal(false)
  const session = signal<Session | undefined>(undefined)
  const mode = signal<TimeMode>(readMode(router.place.peek().params.get("time")))
  const scheduleZone = signal<string | undefined>(undefined)
  const theme = signal<Theme>((localStorage.getItem(STORED_THEME) as Theme | null) ?? "system")
  const toasts = signal<readonly Toast[]>([])
  let toastCount = 0
  let lastAnswerMs = Date.now()

  setInterval(() => {
    if (lostSince.peek() === undefined && document.visibilityState === "visible") tick.value = Date.now()
  }, 1_000)
  token.subscribe((value) => {
    if (value === undefined) sessionStorage.removeItem(STORED_TOKEN)
    else sessionStorage.setItem(STORED_TOKEN, value)
  })
  theme.subscribe((value) => {
    localStorage.setItem(STORED_THEME, value)
    if (value === "system") delete document.documentElement.dataset["theme"]
    else document.documentElement.dataset["theme"] = value
  })

  const api = createApi({
    base,
    token: () => token.peek(),
    onAnswer: (answered) => {
      if (!answered) {
        lostSince.value ??= lastAnswerMs
        return
      }
      lastAnswerMs = Date.now()
      if (lostSince.peek() !== undefined) tick.value = lastAnswerMs
      lostSince.value = undefined
    },
    onDenied: () => {
      denied.value = true
    },
  })
  const dismiss = (id: number) => {
    toasts.value = toasts.peek().filter((toast) => toast.id !== id)
  }

  return {
    api,
    router,
    nowMs: computed(() => tick.value + skewMs.value),
    setClock: (databaseMs) => {
      const skew = databaseMs - Date.now()
      // What the answer took on its way is no reason to move the clock.
      if (Math.abs(skew - skewMs.peek()) > LEAST_SKEW_MS) skewMs.value = skew
    },
    mode,
    scheduleZone,
    zone: computed(() => {
      if (mode.value === "utc") return "UTC"
      return (mode.value === "schedule" ? scheduleZone.value : undefined) ?? localZone()
    }),
    theme,
    live: signal(true),
    pulse: signal(0),
    lostSince,
    session,
    denied,
    token,
    toasts,
    dismiss,
    say: (toast) => {
      toastCount += 1
      const id = toastCount
      toasts.value = [...toasts.peek(), { ...toast, id }].slice(-4)
      if (toast.tone !== "problem") setTimeout(() => dismiss(id), TOAST_MS)
    },
    refusal: (scope) => {
      const scopes = session.value?.scopes
      if (!scopes || scopes.includes(scope) || scopes.includes("admin")) return undefined
      return `Needs scope ${scope}. You have ${scopes.join(", ") || "none"}.`
    },
  }
}

function readMode(text: string | null): TimeMode {
  return text === "utc" || text === "schedule" ? text : "local"
}

export const DashboardContext = createContext<Dashboard | undefined>(undefined)

export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext)
  if (!dashboard) throw new Error("a part of the page stands outside of the dashboard")
  return dashboard
}
