/** Asks the server who one is and what it is, once for each token, and what time it is. */
import { useEffect } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import type { Session, StatsNow } from "../app/records.ts"
import { useQuery } from "../app/use-query.ts"

export function useSession(): void {
  const { api, token, session, denied, setClock } = useDashboard()
  const as = token.value
  const isDenied = denied.value
  const now = useQuery<StatsNow>(isDenied ? undefined : "/stats/now", { everyMs: 15_000 })
  const at = now.data?.at
  useEffect(() => {
    if (at !== undefined) setClock(Date.parse(at))
  }, [at, setClock])
  useEffect(() => {
    if (isDenied) return
    const aborter = new AbortController()
    api.get<Session>("/session", aborter.signal).then(
      (answer) => {
        session.value = answer
      },
      () => {},
    )
    return () => aborter.abort()
  }, [as, isDenied])
}
