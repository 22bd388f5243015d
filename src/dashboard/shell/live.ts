/** Follows the server's events while the tab is visible, and lets lists read again when something has changed. */
import { useEffect } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { problemOf } from "../app/problem.ts"

const GATHER_MS = 1_000
const AGAIN_MS = 5_000

export function useLive(): void {
  const { api, live, pulse, token, denied } = useDashboard()
  const isLive = live.value
  const as = token.value
  const isDenied = denied.value
  useEffect(() => {
    if (!isLive || isDenied) return
    let aborter: AbortController | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let gathering: ReturnType<typeof setTimeout> | undefined
    let stopped = false

    const beat = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined
        pulse.value += 1
      }, GATHER_MS)
    }
    async function follow(): Promise<void> {
      const own = new AbortController()
      aborter = own
      try {
        const response = await api.open("/events", "text/event-stream", own.signal)
        const reader = response.body?.getReader()
        for (;;) {
          const part = await reader?.read()
          if (!part || part.done) break
          // A comment keeps the connection open; everything else is news.
          if (!new TextDecoder().decode(part.value).startsWith(":")) beat()
        }
      } catch (error) {
        // Lists also read on their own. A server without events is not asked again.
        if (problemOf(error).status === 404) return
      }
      if (!stopped && !own.signal.aborted) timer = setTimeout(() => void follow(), AGAIN_MS)
    }
    const onVisibility = () => {
      if (document.visibilityState === "hidden") aborter?.abort()
      else {
        pulse.value += 1
        aborter?.abort()
        clearTimeout(timer)
        void follow()
      }
    }
    document.addEventListener("visibilitychange", onVisibility)
    if (document.visibilityState === "visible") void follow()
    return () => {
      stopped = true
      aborter?.abort()
      clearTimeout(timer)
      clearTimeout(gathering)
      document.removeEventListener("visibilitychange", onVisibility)
    }
  }, [isLive, as, isDenied])
}
