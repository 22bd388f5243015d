/** One lane for each schedule: what it did, and what it will do. */
import { useId } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import { plural } from "../../app/numbers.ts"
import type { CalendarEntry, Fire } from "../../app/records.ts"
import { pathOf, tenantParams } from "../../app/schedule-view.ts"
import { dayText, minuteText, weekdayText } from "../../app/times.ts"
import { Hatch } from "../../parts/bars.tsx"
import { Link } from "../../parts/link.tsx"
import { ticksOf } from "../run/gantt-rows.ts"
import type { Step } from "./load.ts"

const TICKS = 16
/** More fires than this in a lane are drawn as one band. */
const MOST_MARKS = 150
const DAY_MS = 86_400_000
const LOAD_TALL = 40

interface LanesProps {
  readonly entries: readonly CalendarEntry[]
  readonly load: readonly Step[]
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
}

export function Lanes({ entries, load, fromMs, toMs, stepMs }: LanesProps) {
  const { nowMs, zone } = useDashboard()
  const planned = useId()
  const at = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * 100
  const ticks = ticksOf(fromMs, toMs, TICKS)
  const now = nowMs.value
  return (
    <div class="panel lanes">
      <svg class="unseen" aria-hidden="true">
        <defs>
          <Hatch id={planned} kind="planned" />
        </defs>
      </svg>
      <div class="lane lane-axis" aria-hidden="true">
        <span />
        <svg role="img" aria-label="Time">
          {ticks.map((ms, index) => {
            const isMidnight = (at: number | undefined) =>
              at !== undefined && minuteText(at, zone.value) === "00:00"
            const isCrowded = ticks.slice(1, 4).some(isMidnight)
            const isDay = isMidnight(ms) || (index === 0 && !isCrowded)
            return (
              <g key={ms}>
                <text x={`${at(ms)}%`} y="28" text-anchor="middle">
                  {toMs - fromMs > 2 * DAY_MS ? dayText(ms, zone.value, now) : minuteText(ms, zone.value)}
                </text>
                {isDay && (
                  <text class="strong" x={`${at(ms)}%`} y="12" text-anchor={index === 0 ? "start" : "middle"}>
                    {weekdayText(ms, zone.value)} {dayText(ms, zone.value, now)}
                  </text>
                )}
              </g>
            )
          })}
        </svg>
      </div>
      <div class="lane lane-load">
        <span>
          <b>Fires together</b>
          <small class="dim">in {plural(stepMs / 60_000, "minute")}</small>
        </span>
        <Load load={load} at={at} stepMs={stepMs} nowMs={now} ticks={ticks} />
      </div>
      {entries.map((entry) => (
        <div class="lane" key={`${entry.tenant}${entry.name}`}>
          <span>
            <Link to={pathOf(entry)} params={tenantParams(entry)} class="name cut">
              {entry.name}
            </Link>
            <small class="dim cut">{entry.state === "active" ? entry.job : entry.state}</small>
          </span>
          <Lane entry={entry} at={at} ticks={ticks} nowMs={now} planned={planned} />
        </div>
      ))}
    </div>
  )
}

interface LoadProps {
  readonly load: readonly Step[]
  readonly at: (ms: number) => number
  readonly stepMs: number
  readonly nowMs: number
  readonly ticks: readonly number[]
}

function Load({ load, at, stepMs, nowMs, ticks }: LoadProps) {
  const most = Math.max(1, ...load.map(({ fires }) => fires))
  const top = load.find(({ fires }) => fires === most)
  const first = load[0]?.atMs ?? 0
  const wide = (at(first + stepMs) - at(first)) * 0.8
  return (
    <svg role="img" aria-label={`At most ${plural(most, "fire")} together`}>
      <Grid ticks={ticks} at={at} nowMs={nowMs} tall={LOAD_TALL} />
      {load.map(
        ({ atMs, fires }) =>
          fires > 0 && (
            <rect
              key={atMs}
              class={atMs < nowMs ? "load-past" : "load-ahead"}
              x={`${at(atMs)}%`}
              width={`${wide}%`}
              y={LOAD_TALL - (fires / most) * (LOAD_TALL - 12)}
              height={(fires / most) * (LOAD_TALL - 12)}
            />
          ),
      )}
      {top && most > 1 && (
        <text class="strong" x={`${at(top.atMs)}%`} y="10" text-anchor={at(top.atMs) > 90 ? "end" : "start"}>
          {most}
        </text>
      )}
    </svg>
  )
}

interface GridProps {
  readonly ticks: readonly number[]
  readonly at: (ms: number) => number
  readonly nowMs: number
  readonly tall: number
}

function Grid({ ticks, at, nowMs, tall }: GridProps) {
  const now = at(nowMs)
  return (
    <>
      {ticks.map((ms) => (
        <line key={ms} class="g-grid" x1={`${at(ms)}%`} x2={`${at(ms)}%`} y1="0" y2={tall} />
      ))}
      {now >= 0 && now <= 100 && <line class="g-now" x1={`${now}%`} x2={`${now}%`} y1="0" y2={tall} />}
    </>
  )
}

interface LaneProps {
  readonly entry: CalendarEntry
  readonly at: (ms: number) => number
  readonly ticks: readonly number[]
  readonly nowMs: number
  readonly planned: string
}

function Lane({ entry, at, ticks, nowMs, planned }: LaneProps) {
  const dense = entry.planned.length + entry.fires.length > MOST_MARKS
  const past = plural(entry.fires.length, "past entry", "past entries")
  const says = `${entry.name}: ${past}, ${plural(entry.planned.length, "planned fire")}`
  const hatch = `url(#${planned})`
  return (
    <svg role="img" aria-label={says}>
      <Grid ticks={ticks} at={at} nowMs={nowMs} tall={34} />
      {dense ? (
        <Bands entry={entry} at={at} nowMs={nowMs} hatch={hatch} />
      ) : (
        entry.planned.map((iso) => (
          <rect
            key={iso}
            class="mark-planned"
            fill={hatch}
            x={`${at(Date.parse(iso))}%`}
            y="10"
            width="7"
            height="14"
            rx="1.5"
          />
        ))
      )}
      {entry.fires
        .filter((fire) => !dense || fire.state === "dead")
        .map((fire) => (
          <Past key={`${fire.occurrence}${fire.generation}`} fire={fire} at={at} />
        ))}
    </svg>
  )
}

/** So many that single marks would run together. */
function Bands({
  entry,
  at,
  nowMs,
  hatch,
}: {
  readonly entry: CalendarEntry
  readonly at: (ms: number) => number
  readonly nowMs: number
  readonly hatch: string
}) {
  const past = entry.fires.map(({ occurrence }) => Date.parse(occurrence))
  const ahead = entry.planned.map((iso) => Date.parse(iso))
  const fromPast = Math.max(0, at(Math.min(...past)))
  const toPast = Math.min(100, at(Math.min(nowMs, Math.max(...past))))
  const fromAhead = Math.max(0, at(Math.min(...ahead)))
  const toAhead = entry.capped ? 100 : Math.min(100, at(Math.max(...ahead)))
  return (
    <>
      {past.length > 0 && (
        <rect
          class="past-well"
          x={`${fromPast}%`}
          y="10"
          width={`${Math.max(0.3, toPast - fromPast)}%`}
          height="14"
        />
      )}
      {ahead.length > 0 && (
        <rect
          class="mark-planned"
          fill={hatch}
          x={`${fromAhead}%`}
          y="10"
          width={`${Math.max(0.3, toAhead - fromAhead)}%`}
          height="14"
        />
      )}
    </>
  )
}

function Past({ fire, at }: { readonly fire: Fire; readonly at: (ms: number) => number }) {
  const x = `${at(Date.parse(fire.occurrence))}%`
  if (fire.run === undefined) return <rect class="past-none" x={x} y="22" width="7" height="2" />
  if (fire.state === "dead") {
    return (
      <>
        <rect class="past-dead" x={x} y="10" width="7" height="6" />
        <rect class="past-dead" x={x} y="18" width="7" height="6" />
      </>
    )
  }
  const isLive =
    fire.state === "running" || fire.state === "ready" || fire.state === "waiting" || fire.state === "parked"
  return <rect class={isLive ? "past-live" : "past-well"} x={x} y="10" width="7" height="14" rx="1" />
}

export function LanesLegend() {
  const planned = useId()
  return (
    <span class="legend">
      <span>
        <svg viewBox="0 0 14 10" aria-hidden="true">
          <rect class="past-well" width="14" height="10" />
        </svg>
        succeeded
      </span>
      <span>
        <svg viewBox="0 0 14 10" aria-hidden="true">
          <rect class="past-dead" width="14" height="4" />
          <rect class="past-dead" y="6" width="14" height="4" />
        </svg>
        dead
      </span>
      <span>
        <svg viewBox="0 0 14 10" aria-hidden="true">
          <rect class="past-none" y="8" width="14" height="2" />
        </svg>
        made no run
      </span>
      <span>
        <svg viewBox="0 0 14 10" aria-hidden="true">
          <defs>
            <Hatch id={planned} kind="planned" />
          </defs>
          <rect class="mark-planned" fill={`url(#${planned})`} x="0.5" y="0.5" width="13" height="9" />
        </svg>
        planned
      </span>
    </span>
  )
}
