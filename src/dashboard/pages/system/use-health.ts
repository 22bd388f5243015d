/** Asks one of the health checks of the process, every few seconds. */
import { useEffect, useState } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"

export interface Health {
  readonly well: boolean | undefined
  readonly evidence: string
}

const EVERY_MS = 5_000

export function useHealth(name: "healthz" | "readyz"): Health {
  const { router } = useDashboard()
  const [health, setHealth] = useState<Health>({ well: undefined, evidence: "" })
  const address = router.href(name)
  useEffect(() => {
    const aborter = new AbortController()
    const ask = async () => {
      const startMs = performance.now()
      try {
        const response = await fetch(address, { signal: aborter.signal, cache: "no-store" })
        const body = (await response.json().catch(() => ({}))) as { readonly detail?: string }
        const tookMs = Math.round(performance.now() - startMs)
        setHealth({
          well: response.ok,
          evidence: response.ok ? `in ${tookMs} ms` : (body.detail ?? `${response.status}`),
        })
      } catch {
        if (!aborter.signal.aborted) setHealth({ well: false, evidence: "no answer" })
      }
    }
    void ask()
    const timer = setInterval(() => void ask(), EVERY_MS)
    return () => {
      aborter.abort()
      clearInterval(timer)
    }
  }, [address])
  return health
}
