/** The fires of the next hour, minute by minute, and the busiest of them. */

import { useId } from "preact/hooks"
import { withParams } from "../../app/api.ts"
import { useDashboard } from "../../app/dashboard.ts"
import { plural } from "../../app/numbers.ts"
import type { CalendarEntry } from "../../app/records.ts"
import { minutesFrom } from "../../app/stats-sums.ts"
import { minuteText } from "../../app/times.ts"
import { useQuery } from "../../app/use-query.ts"
import { Hatch } from "../../parts/bars.tsx"
import { Link } from "../../parts/link.tsx"
import { Loaded, Message, Panel } from "../../parts/panel.tsx"

const MINUTES = 60
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const TALL = 108
const BUSIEST = 3

interface Minute {
  readonly atMs: number
  readonly fires: number
  readonly names: readonly string[]
}

export function FiresAhead({ fromMs }: { readonly fromMs: number }) {
  const { zone } = useDashboard()
  const query = useQuery<{ readonly items: readonly CalendarEntry[] }>(
    withParams("/calendar", {
      from: new Date(fromMs).toISOString(),
      to: new Date(fromMs + HOUR_MS).toISOString(),
    }),
    { everyMs: 60_000 },
  )
  const items = query.data?.items ?? []
  const minutes = minutesOf(items, fromMs)
  const count = minutes.reduce((sum, { fires }) => sum + fires, 0)
  const busiest = minutes
    .filter(({ fires }) => fires > 0)
    .toSorted((a, b) => b.fires - a.fires)
    .slice(0, BUSIEST)
  return (
    <Panel
      title="Next hour of fires"
      note={query.data && `${items.some(({ capped }) => capped) ? "at least " : ""}${count} planned`}
      end={
        <Link to="calendar" class="dim small">
          Calendar
        </Link>
      }
    >
      <Loaded query={query}>
        {() =>
          count === 0 ? (
            <Message title="No schedule fires in the next hour">
              <p>Declare one in code, or make one on the page of schedules.</p>
            </Message>
          ) : (
            <>
              <Bars minutes={minutes} zone={zone.value} />
              <ul class="busiest">
                {busiest.map(({ atMs, fires, names }) => (
                  <li key={atMs}>
                    <b>{minuteText(atMs, zone.value)}</b>
                    <span class="cut soft">
                      {plural(fires, "fire")}: {names.slice(0, 3).join(", ")}
                      {names.length > 3 && ` and ${names.length - 3} more`}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Panel>
  )
}

function minutesOf(entries: readonly CalendarEntry[], fromMs: number): readonly Minute[] {
  return minutesFrom(fromMs, MINUTES).map((atMs) => {
    const here = entries.flatMap(({ name, planned }) => {
      const fires = planned.filter((at) => {
        const ms = Date.parse(at)
        return ms >= atMs && ms < atMs + MINUTE_MS
      }).length
      return fires > 0 ? [{ name, fires }] : []
    })
    return {
      atMs,
      fires: here.reduce((sum, { fires }) => sum + fires, 0),
      names: here.map(({ name }) => name),
    }
  })
}

function Bars({ minutes, zone }: { readonly minutes: readonly Minute[]; readonly zone: string }) {
  const id = useId()
  const most = Math.max(1, ...minutes.map(({ fires }) => fires))
  const step = 100 / MINUTES
  const top = minutes.findIndex(({ fires }) => fires === most)
  const finding = `At most ${plural(most, "fire")} in a minute, at ${minuteText(minutes[top]?.atMs ?? 0, zone)}`
  return (
    <svg class="fires" role="img" aria-label={finding}>
      <defs>
        <Hatch id={id} kind="planned" />
      </defs>
      <line class="g-grid" x1="0" x2="100%" y1={TALL} y2={TALL} />
      {minutes.map(({ atMs, fires }, index) => {
        const tall = (fires / most) * (TALL - 18)
        return (
          fires > 0 && (
            <rect
              key={atMs}
              class="planned"
              fill={`url(#${id})`}
              x={`${index * step}%`}
              width={`${step * 0.72}%`}
              y={TALL - tall}
              height={tall}
            />
          )
        )
      })}
      <text x={`${top * step + 0.6}%`} y={12} class="strong" text-anchor={top > 50 ? "end" : "start"}>
        {most}
      </text>
      <line class="g-now" x1="0.5" x2="0.5" y1="0" y2={TALL} />
      {[0, 15, 30, 45].map((minute) => (
        <text key={minute} x={`${minute * step}%`} y={TALL + 15} text-anchor="start">
          {minute === 0 ? "now" : minuteText(minutes[minute]?.atMs ?? 0, zone)}
        </text>
      ))}
    </svg>
  )
}
