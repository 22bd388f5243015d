/** The coming fires in three zones: its own, the reader's, and UTC. */

import { useDashboard } from "../../app/dashboard.ts"
import type { PlannedFire } from "../../app/records.ts"
import { clockText, dayText, distanceText, localZone, placeOf, weekdayText } from "../../app/times.ts"
import { Scroll } from "../../parts/scroll.tsx"
import { offsetText } from "./offsets.ts"

export function NextFires({
  fires,
  zone,
}: {
  readonly fires: readonly PlannedFire[]
  readonly zone: string
}) {
  const { nowMs } = useDashboard()
  const now = nowMs.value
  const own = localZone()
  return (
    <Scroll>
      <table class="table table-small">
        <thead>
          <tr>
            <th>
              {placeOf(zone)}, {own === zone ? "yours" : "its zone"}
            </th>
            {own !== zone && <th>{placeOf(own)}, yours</th>}
            {zone !== "UTC" && <th>UTC</th>}
            <th>Note</th>
            <th class="num">In</th>
          </tr>
        </thead>
        <tbody>
          {fires.map(({ occurrence, due }, index) => {
            const at = Date.parse(occurrence)
            const before = fires[index - 1]
            const change = before && offsetText(at, zone) !== offsetText(Date.parse(before.occurrence), zone)
            const delayMs = Date.parse(due) - at
            return (
              <tr key={occurrence}>
                <td>
                  <ZonedTime ms={at} zone={zone} nowMs={now} />
                </td>
                {own !== zone && <td class="soft">{clockText(at, own)}</td>}
                {zone !== "UTC" && <td class="soft">{clockText(at, "UTC")}</td>}
                <td class={change ? "fill warn" : "fill dim"}>
                  {change
                    ? `${placeOf(zone)} is now ${offsetText(at, zone)}`
                    : delayMs > 0
                      ? `due ${Math.round(delayMs / 1_000)} s later, spread`
                      : ""}
                </td>
                <td class="num soft">{distanceText(at, now).replace("in ", "")}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}

export function ZonedTime({
  ms,
  zone,
  nowMs,
}: {
  readonly ms: number
  readonly zone: string
  readonly nowMs: number
}) {
  return (
    <>
      <span class="soft">
        {weekdayText(ms, zone)} {dayText(ms, zone, nowMs)}
      </span>{" "}
      <b>{clockText(ms, zone)}</b>
    </>
  )
}
