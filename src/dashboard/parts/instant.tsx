/** A time: as the reader has chosen, and in full on hover. */
import { useDashboard } from "../app/dashboard.ts"
import {
  clockText,
  dayText,
  distanceText,
  instantText,
  lengthText,
  localZone,
  placeOf,
} from "../app/times.ts"

interface InstantProps {
  readonly at: string
  /** `distance` is `2 min ago`; `both` adds it after the instant. */
  readonly as?: "instant" | "distance" | "both"
  readonly zone?: string
}

export function Instant({ at, as = "instant", zone }: InstantProps) {
  const dashboard = useDashboard()
  const nowMs = dashboard.nowMs.value
  const ms = Date.parse(at)
  const inZone = zone ?? dashboard.zone.value
  const instant = instantText(ms, inZone, nowMs)
  const distance = distanceText(ms, nowMs)
  return (
    <time dateTime={at} title={inFull(ms, nowMs, dashboard.scheduleZone.value)}>
      {as === "distance" ? distance : instant}
      {as === "both" && <span class="dim"> {distance}</span>}
    </time>
  )
}

function inFull(ms: number, nowMs: number, scheduleZone: string | undefined): string {
  const zones = new Set([localZone(), "UTC", ...(scheduleZone === undefined ? [] : [scheduleZone])])
  const times = [...zones].map(
    (zone) => `${dayText(ms, zone, nowMs)} ${clockText(ms, zone)} ${placeOf(zone)}`,
  )
  return [...times, distanceText(ms, nowMs)].join("\n")
}

/** A length that grows while the page is open. */
export function Since({ at }: { readonly at: string }) {
  const { nowMs } = useDashboard()
  return <>{lengthText(Math.max(0, nowMs.value - Date.parse(at)))}</>
}
