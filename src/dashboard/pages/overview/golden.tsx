/** Four numbers, each with its last hour. */
import { useDashboard } from "../../app/dashboard.ts"
import { countText, shareText } from "../../app/numbers.ts"
import type { DeadLetterGroup, DepthPoint, Pool, StatsPoint } from "../../app/records.ts"
import { isFailure, minutesFrom, perStep, sumOf } from "../../app/stats-sums.ts"
import { lengthText } from "../../app/times.ts"
import { Link } from "../../parts/link.tsx"

interface GoldenProps {
  readonly pools: readonly Pool[] | undefined
  readonly ends: readonly StatsPoint[] | undefined
  readonly groups: readonly DeadLetterGroup[] | undefined
  readonly depths: readonly DepthPoint[] | undefined
  readonly fromMs: number
}

const MINUTES = 60
const LATE_MS = 5 * 60_000

export function Golden({ pools, ends: read, groups, depths = [], fromMs }: GoldenProps) {
  const ends = read ?? []
  const { nowMs } = useDashboard()
  const steps = minutesFrom(fromMs, MINUTES)
  const throughput = perStep(ends, steps, ({ ends: count }) => count)
  const failures = perStep(ends.filter(isFailure), steps, ({ ends: count }) => count)
  // The last minute is still being written.
  const lastEnds = throughput.at(-1) ?? 0
  const lastFailures = failures.at(-1) ?? 0
  const failuresInHour = sumOf(failures, (count) => count)
  const endsInHour = sumOf(throughput, (count) => count)
  const oldest = (pools ?? [])
    .flatMap(({ name, oldestDueAt }) =>
      oldestDueAt === undefined ? [] : [{ name, ms: nowMs.value - Date.parse(oldestDueAt) }],
    )
    .toSorted((a, b) => b.ms - a.ms)[0]
  const ages = steps.map((at) =>
    Math.max(
      0,
      ...depths.filter((point) => Date.parse(point.at) === at).map(({ oldestDueMs }) => oldestDueMs),
    ),
  )
  const dead = sumOf(
    (groups ?? []).filter(({ state }) => state !== "ignored"),
    ({ count }) => count,
  )
  const deaths = perStep(ends, steps, ({ dead: count }) => count)
  const isLate = oldest !== undefined && oldest.ms > LATE_MS
  return (
    <div class="golden">
      <Tile
        title="Throughput"
        value={read ? countText(lastEnds) : undefined}
        unit="ended, last minute"
        note={`${countText(endsInHour)} in 1 h`}
        values={throughput}
        to="metrics"
      />
      <Tile
        title="Failures"
        value={read ? countText(lastFailures) : undefined}
        unit="last minute"
        note={`${shareText(failuresInHour, endsInHour)} in 1 h`}
        values={failures}
        to="metrics"
      />
      <Tile
        title="Oldest due age"
        value={pools && lengthText(Math.max(0, oldest?.ms ?? 0))}
        unit={oldest?.name ?? "nothing waits"}
        note={isLate ? "past 5m" : "below 5m"}
        values={ages}
        to="pools"
        tone={isLate ? "problem" : undefined}
      />
      <Tile
        title="Dead letters"
        value={groups && countText(dead)}
        unit="open"
        note={`+${countText(sumOf(deaths, (count) => count))} in 1 h`}
        values={deaths}
        to="dead-letters"
        tone={sumOf(deaths, (count) => count) > 0 ? "problem" : undefined}
      />
    </div>
  )
}

interface TileProps {
  readonly title: string
  /** Absent until it has been read. */
  readonly value: string | undefined
  readonly unit: string
  readonly note: string
  readonly values: readonly number[]
  readonly to: string
  readonly tone?: "problem" | undefined
}

function Tile({ title, value, unit, note, values, to, tone }: TileProps) {
  return (
    <Link to={to} class="panel tile">
      <span class="tile-title">{title}</span>
      <span class={`tile-note ${tone === "problem" ? "dead" : ""}`}>{value === undefined ? "" : note}</span>
      <span class="tile-value">
        <b>{value ?? "–"}</b> <small>{value === undefined ? "" : unit}</small>
      </span>
      <SparkLine values={values} tone={tone} />
    </Link>
  )
}

const WIDE = 100
const TALL = 24

/** The shape of an hour: a thin line, with a dot where it is now. */
function SparkLine({
  values,
  tone,
}: {
  readonly values: readonly number[]
  readonly tone?: "problem" | undefined
}) {
  const most = Math.max(1, ...values)
  const last = values.length - 1
  const x = (index: number) => (index / Math.max(1, last)) * (WIDE - 4) + 1
  const y = (value: number) => TALL - 3 - (value / most) * (TALL - 7)
  const path = values
    .map((value, index) => `${index === 0 ? "M" : "L"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
    .join("")
  return (
    <svg class="tile-spark" viewBox={`0 0 ${WIDE} ${TALL}`} aria-hidden="true">
      <path d={path} />
      <circle
        class={tone === "problem" ? "is-problem" : undefined}
        cx={x(last)}
        cy={y(values[last] ?? 0)}
        r="2.2"
      />
    </svg>
  )
}
