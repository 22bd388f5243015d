/** The clock of the browser, once a second, also while the server is silent. */
import { useEffect, useState } from "preact/hooks"

export function useTicks(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
