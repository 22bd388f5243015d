/** The ledger of a schedule: each occurrence with its run, or the reason that there is none. */

import { useDashboard } from "../../app/dashboard.ts"
import { plural } from "../../app/numbers.ts"
import type { Fire } from "../../app/records.ts"
import { fireWords } from "../../app/schedule-view.ts"
import { clockText, lengthText, localZone, placeOf } from "../../app/times.ts"
import { markOf, StateMark, stateWord } from "../../marks/state-mark.tsx"
import { RunLink } from "../../parts/link.tsx"
import { Scroll } from "../../parts/scroll.tsx"
import { ZonedTime } from "./next-fires.tsx"

const LATE_MS = 60_000

export function FireLog({ fires, zone }: { readonly fires: readonly Fire[]; readonly zone: string }) {
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
            <th>Occurrence</th>
            <th>Run, or why there is none</th>
            <th class="num">Decided after</th>
          </tr>
        </thead>
        <tbody>
          {fires.map((fire) => (
            <Row
              key={`${fire.occurrence}${fire.generation}${fire.decidedAt}`}
              fire={fire}
              zone={zone}
              own={own}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Row({ fire, zone, own }: { readonly fire: Fire; readonly zone: string; readonly own: string }) {
  const { nowMs } = useDashboard()
  const at = Date.parse(fire.occurrence)
  const { word, why } = fireWords(fire)
  const lateMs = Date.parse(fire.decidedAt) - Date.parse(fire.due ?? fire.occurrence)
  const made = fire.run !== undefined
  return (
    <tr class={made ? undefined : "off"}>
      <td>
        <ZonedTime ms={at} zone={zone} nowMs={nowMs.value} />
        {fire.count > 1 && <span class="dim"> and {plural(fire.count - 1, "more", "more")}</span>}
      </td>
      {own !== zone && <td class="soft">{clockText(at, own)}</td>}
      {zone !== "UTC" && <td class="soft">{clockText(at, "UTC")}</td>}
      <td>
        <span class="state">
          {made ? (
            <StateMark name={markOf(fire.state ?? "succeeded")} />
          ) : (
            <span class="dash" aria-hidden="true" />
          )}
          {word}
        </span>
      </td>
      <td class="fill">
        {fire.run === undefined ? (
          <span title={why}>{why}</span>
        ) : (
          <>
            <RunLink id={fire.run} />{" "}
            <span class="soft">{fire.state === undefined ? "" : stateWord(fire.state).toLowerCase()}</span>
            {(fire.attempts ?? 1) > 1 && <span class="dim">, {fire.attempts} attempts</span>}
            {fire.generation > 1 && <span class="dim">, backfilled</span>}
          </>
        )}
      </td>
      <td class={`num ${made && lateMs > LATE_MS ? "warn" : "soft"}`}>
        {fire.byHand ? "–" : lengthText(Math.max(0, lateMs))}
      </td>
    </tr>
  )
}
