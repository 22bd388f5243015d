/** Panels about what waits: Due by job, Oldest lag, Pool saturation. */
import { useDashboard } from "../../app/dashboard.ts"
import { quoted } from "../../app/filter-text.ts"
import { cappedText, countText, plural } from "../../app/numbers.ts"
import type { DepthPoint, DueByJob as Due, Pool, StatsNow } from "../../app/records.ts"
import { groupedBy, minutesFrom, sumOf } from "../../app/stats-sums.ts"
import { lengthText } from "../../app/times.ts"
import { type Query, useQuery } from "../../app/use-query.ts"
import { type Ranked, RankedBars, withOthers } from "../../parts/bars.tsx"
import { LineChart, type Series } from "../../parts/line-chart.tsx"
import { Link } from "../../parts/link.tsx"
import { Loaded, Message, Panel } from "../../parts/panel.tsx"

const LATE_MS = 5 * 60_000
const MINUTES = 60
const NAMED = 3
const LEAST_MS = 100

export function DueByJob() {
  const { nowMs } = useDashboard()
  const query = useQuery<{ readonly items: readonly Due[]; readonly capped: boolean }>("/stats/due", {
    everyMs: 5_000,
  })
  const items = query.data?.items ?? []
  const total = sumOf(items, ({ due }) => due)
  const age = (at: string) => Math.max(0, nowMs.value - Date.parse(at))
  const rows = items.map(
    ({ job, due, oldestDueAt }): Ranked => ({
      key: job,
      label: (
        <Link to="runs" params={{ filter: `state:ready,parked job:${quoted(job)}` }}>
          {job}
        </Link>
      ),
      value: due,
      text: countText(due),
      more: lengthText(age(oldestDueAt)),
      tone: age(oldestDueAt) > LATE_MS ? "problem" : undefined,
    }),
  )
  const note =
    query.data && `${cappedText({ count: total, capped: query.data.capped })} due now, and the oldest of each`
  return (
    <Panel title="Due by job" note={note}>
      <Loaded query={query}>
        {() =>
          rows.length === 0 ? (
            <Message title="Nothing is due">
              <p>Every due run has a slot.</p>
            </Message>
          ) : (
            <RankedBars
              pair
              rows={withOthers(rows, (others) => ({
                key: "others",
                label: `${others.length} others`,
                value: sumOf(others, ({ value }) => value),
                text: countText(sumOf(others, ({ value }) => value)),
              }))}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}

interface OldestLagProps {
  readonly query: Query<{ readonly items: readonly DepthPoint[] }>
  readonly fromMs: number
}

export function OldestLag({ query, fromMs }: OldestLagProps) {
  const steps = minutesFrom(fromMs, MINUTES)
  return (
    <Panel title="Oldest lag" note="by pool, last hour">
      <Loaded query={query}>
        {({ items }) => {
          const series = lagSeries(items, steps)
          if (series.length === 0) {
            return (
              <Message title="No samples yet">
                <p>A process samples the depth of every pool every 10 s.</p>
              </Message>
            )
          }
          const worst = series[0]
          return (
            <LineChart
              atMs={steps}
              series={series}
              log
              valueText={lagText}
              bound={{ value: LATE_MS, label: "5m" }}
              finding={`Pool ${worst?.label} waits longest: ${lengthText(last(worst))}`}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}

/** A logarithmic axis has no zero: what is below its foot counts as nothing. */
function lagText(ms: number): string {
  return ms <= LEAST_MS ? "< 0.1 s" : lengthText(ms)
}

function last(series: Series | undefined): number {
  return series?.values.findLast((value) => value !== null) ?? 0
}

/** The four pools that wait longest, and the others as one line. At most one is coloured. */
function lagSeries(points: readonly DepthPoint[], steps: readonly number[]): readonly Series[] {
  const series = [...groupedBy(points, ({ pool }) => pool)].map(([pool, own]) => {
    const byTime = new Map(own.map(({ at, oldestDueMs }) => [Date.parse(at), oldestDueMs]))
    return {
      label: pool,
      values: steps.map((at) => {
        const value = byTime.get(at)
        return value === undefined ? null : Math.max(value, LEAST_MS)
      }),
    }
  })
  const sampled = series.filter(({ values }) => values.some((value) => value !== null))
  const ranked = sampled.toSorted((a, b) => last(b) - last(a))
  const named = ranked.slice(0, NAMED).map((one, index): Series => {
    if (index > 0) return one
    return { ...one, tone: last(one) > LATE_MS ? "problem" : "first" }
  })
  const others = ranked.slice(NAMED)
  if (others.length === 0) return named
  const most = steps.map((_, index) => {
    const values = others.flatMap(({ values: own }) => own[index] ?? [])
    return values.length === 0 ? null : Math.max(...values)
  })
  return [...named, { label: plural(others.length, "other"), values: most, tone: "quiet" }]
}

export function PoolSaturation({ query }: { readonly query: Query<StatsNow> }) {
  return (
    <Panel title="Pool saturation" note="slots in use">
      <Loaded query={query}>
        {({ pools }) => {
          if (pools.length === 0) {
            return (
              <Message title="No pools yet">
                <p>A pool appears when a job names it, or a worker serves it.</p>
              </Message>
            )
          }
          const rows = pools.toSorted(byUrgency).map(saturationRow)
          return (
            <RankedBars
              max={1}
              rows={withOthers(rows, (others) => ({
                key: "others",
                label: plural(others.length, "other"),
                value: Math.max(...others.map(({ value }) => value)),
                text: "",
              }))}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}

function shareOf({ slots, used }: Pool): number {
  return slots === 0 ? 0 : used / slots
}

function byUrgency(a: Pool, b: Pool): number {
  const isUnserved = (pool: Pool) => Number(pool.workers === 0 && pool.ready > 0)
  return isUnserved(b) - isUnserved(a) || shareOf(b) - shareOf(a) || a.name.localeCompare(b.name)
}

function saturationRow(pool: Pool): Ranked {
  const { name, workers, slots, used, ready } = pool
  const isUnserved = workers === 0
  const share = shareOf(pool)
  return {
    key: name,
    label: (
      <Link to="runs" params={{ filter: `pool:${quoted(name)}` }}>
        {name}
      </Link>
    ),
    value: share,
    text: isUnserved ? (
      <span class={ready > 0 ? "dead" : "dim"}>no worker</span>
    ) : (
      <>
        {used} <span class="dim">/ {slots}</span>
      </>
    ),
    tone: share >= 1 ? "warning" : undefined,
    hatched: isUnserved,
  }
}
