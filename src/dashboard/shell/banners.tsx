/** Says that what is on the page may be old. */
import { useEffect } from "preact/hooks"
import { useDashboard } from "../app/dashboard.ts"
import { clockText, lengthText } from "../app/times.ts"
import { StateMark } from "../marks/state-mark.tsx"
import { Button } from "../parts/button.tsx"
import { useTicks } from "./use-ticks.ts"

const RETRY_MS = 4_000

export function Banners() {
  const { lostSince } = useDashboard()
  const since = lostSince.value
  return since === undefined ? null : <Lost since={since} />
}

/** Asks for the health of the process until it answers. */
function Lost({ since }: { readonly since: number }) {
  const { api, zone, pulse } = useDashboard()
  const now = useTicks()
  const ask = () => {
    void api.get("/stats/now").then(
      () => {
        pulse.value += 1
      },
      () => {},
    )
  }
  useEffect(() => {
    const timer = setInterval(ask, RETRY_MS)
    return () => clearInterval(timer)
  }, [])
  const forMs = Math.max(0, now - since)
  const inMs = RETRY_MS - (forMs % RETRY_MS)
  return (
    <div class="banner" role="status">
      <StateMark name="warning" />
      <span class="grow">
        <b>No connection to the server for {lengthText(Math.max(1_000, forMs))}.</b> What you see is from{" "}
        {clockText(since, zone.value)}. Trying again in {Math.ceil(inMs / 1_000)} s.
      </span>
      <Button small onPress={ask}>
        Try now
      </Button>
    </div>
  )
}
