/** Metrics from the statistics of Carillon itself: what ended and what waited, over an hour to 30 days. */

import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { quoted } from "../app/filter-text.ts"
import { countText, percentileOf, shareText } from "../app/numbers.ts"
import type { DepthPoint, StatsPoint } from "../app/records.ts"
import {
  addedBuckets,
  BUCKETS_MS,
  groupedBy,
  isFailure,
  minutesFrom,
  perStep,
  sumOf,
} from "../app/stats-sums.ts"
import { lengthText } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { LinkChoice } from "../parts/choice.tsx"
import { CopyAs } from "../parts/copy-as.tsx"
import { LineChart, type Series } from "../parts/line-chart.tsx"
import { Link } from "../parts/link.tsx"
import { Loaded, Panel } from "../parts/panel.tsx"
import { Scroll } from "../parts/scroll.tsx"

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

interface Range {
  readonly text: string
  readonly spanMs: number
  readonly step: "minute" | "hour"
  readonly stepMs: number
}

const RANGES: Readonly<Record<string, Range>> = {
  "1h": { text: "1 h", spanMs: HOUR_MS, step: "minute", stepMs: MINUTE_MS },
  "6h": { text: "6 h", spanMs: 6 * HOUR_MS, step: "minute", stepMs: MINUTE_MS },
  "24h": { text: "24 h", spanMs: DAY_MS, step: "hour", stepMs: HOUR_MS },
  "7d": { text: "7 d", spanMs: 7 * DAY_MS, step: "hour", stepMs: HOUR_MS },
  "30d": { text: "30 d", spanMs: 30 * DAY_MS, step: "hour", stepMs: HOUR_MS },
}
const DEFAULT = RANGES["1h"] as Range
const TALL = 180
const NAMED = 4

export function MetricsPage() {
  const { router, nowMs } = useDashboard()
  const { params } = router.place.value
  const key = params.get("range") ?? "1h"
  const range = RANGES[key] ?? DEFAULT
  const { step, stepMs, spanMs, text } = range
  const toMs = Math.floor(nowMs.value / stepMs) * stepMs
  const from = new Date(toMs - spanMs).toISOString()
  const path = withParams("/stats", { from, step, by: "job,outcome" })
  const ends = useQuery<{ readonly items: readonly StatsPoint[] }>(path, { everyMs: 15_000 })
  const depths = useQuery<{ readonly items: readonly DepthPoint[] }>(
    withParams("/stats/depths", { from, step }),
    { everyMs: 15_000 },
  )
  const steps = minutesFrom(toMs - spanMs, Math.round(spanMs / stepMs) + 1, stepMs)
  const per = step === "minute" ? "a minute" : "an hour"
  return (
    <div class="page">
      <div class="line">
        <LinkChoice
          label="Range"
          options={Object.entries(RANGES).map(([name, one]) => ({
            to: "metrics",
            params: { range: name },
            text: one.text,
            current: name === key,
          }))}
        />
        <span class="dim small">
          {step === "minute" ? "one point a minute" : "one point an hour"}, in UTC steps
        </span>
        <span class="end" />
        <CopyAs
          tongues={{
            cli: `stats --from ${from} --step ${step} --by job,outcome`,
            path,
            code: `await carillon.stats.series({ from: new Date("${from}"), step: "${step}", by: ["job", "outcome"] })`,
          }}
        />
      </div>
      <div class="charts">
        <Panel title="Ended" note={`attempts ${per}, last ${text}`}>
          <Loaded query={ends}>
            {({ items }) => (
              <LineChart
                height={TALL}
                atMs={steps}
                series={[
                  {
                    label: "succeeded",
                    values: perStep(
                      items.filter(({ outcome }) => outcome === "succeeded"),
                      steps,
                      ({ ends: count }) => count,
                    ),
                    tone: "first",
                  },
                  {
                    label: "failed",
                    values: perStep(items.filter(isFailure), steps, ({ ends: count }) => count),
                    tone: "problem",
                  },
                ]}
                valueText={(value) => countText(Math.round(value))}
                finding={`${countText(sumOf(items, ({ ends: count }) => count))} attempts ended in ${text}`}
              />
            )}
          </Loaded>
        </Panel>
        <Panel title="Wait" note={`from due to start, last ${text}`}>
          <Loaded query={ends}>
            {({ items }) => <Percentiles points={items} steps={steps} of="wait" />}
          </Loaded>
        </Panel>
        <Panel title="Duration" note={`of attempts, last ${text}`}>
          <Loaded query={ends}>
            {({ items }) => <Percentiles points={items} steps={steps} of="duration" />}
          </Loaded>
        </Panel>
        <Panel title="Due" note={`ready runs by pool, the most in a step, last ${text}`}>
          <Loaded query={depths}>
            {({ items }) => (
              <LineChart
                height={TALL}
                atMs={steps}
                series={byPool(items, steps)}
                valueText={(value) => countText(Math.round(value))}
                finding={`At most ${countText(mostReady(items))} runs were ready in a pool`}
              />
            )}
          </Loaded>
        </Panel>
      </div>
      <Panel title="By job" note={`last ${text}`} lined flush>
        <Loaded query={ends}>{({ items }) => <JobTable points={items} />}</Loaded>
      </Panel>
    </div>
  )
}

interface PercentilesProps {
  readonly points: readonly StatsPoint[]
  readonly steps: readonly number[]
  readonly of: "wait" | "duration"
}

function Percentiles({ points, steps, of }: PercentilesProps) {
  const byStep = groupedBy(points, ({ at }) => String(Date.parse(at)))
  const line = (share: number) =>
    steps.map((at) => {
      const own = byStep.get(String(at))
      const value =
        own && percentileOf(BUCKETS_MS, addedBuckets(own.map((point) => point[of].buckets)), share)
      return value === undefined ? null : Math.max(1, value)
    })
  const median = line(0.5)
  return (
    <LineChart
      height={TALL}
      atMs={steps}
      log
      series={[
        { label: "p50", values: median },
        { label: "p95", values: line(0.95), tone: "first" },
        { label: "p99", values: line(0.99), tone: "quiet" },
      ]}
      valueText={lengthText}
      finding={`The median ${of} was last ${lengthText(median.findLast((value) => value !== null) ?? 0)}`}
    />
  )
}

function mostReady(points: readonly DepthPoint[]): number {
  return Math.max(0, ...points.map(({ ready }) => ready))
}

function byPool(points: readonly DepthPoint[], steps: readonly number[]): readonly Series[] {
  return [...groupedBy(points, ({ pool }) => pool)]
    .map(([label, own]) => {
      const at = new Map(own.map((point) => [Date.parse(point.at), point.ready]))
      return { label, values: steps.map((step) => at.get(step) ?? null) }
    })
    .toSorted(
      (a, b) =>
        Math.max(0, ...b.values.map((value) => value ?? 0)) -
        Math.max(0, ...a.values.map((value) => value ?? 0)),
    )
    .slice(0, NAMED)
    .map((series, index) => (index === 0 ? { ...series, tone: "first" as const } : series))
}

function JobTable({ points }: { readonly points: readonly StatsPoint[] }) {
  const rows = [...groupedBy(points, ({ job }) => job ?? "")]
    .map(([job, own]) => ({ job, own, ends: sumOf(own, ({ ends }) => ends) }))
    .toSorted((a, b) => b.ends - a.ends)
  return (
    <Scroll>
      <table class="table table-small">
        <thead>
          <tr>
            <th>Job</th>
            <th class="num">Ended</th>
            <th class="num">Failed</th>
            <th class="num">Share</th>
            <th class="num">Retries</th>
            <th class="num">Dead</th>
            <th class="num">Wait p50</th>
            <th class="num">Wait p99</th>
            <th class="num">Ran p50</th>
            <th class="num">Ran p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ job, own, ends }) => {
            const failed = sumOf(own.filter(isFailure), (point) => point.ends)
            const dead = sumOf(own, (point) => point.dead)
            const at = (of: "wait" | "duration", share: number) => {
              const value = percentileOf(
                BUCKETS_MS,
                addedBuckets(own.map((point) => point[of].buckets)),
                share,
              )
              return value === undefined ? "–" : lengthText(Math.max(1, value))
            }
            return (
              <tr key={job}>
                <td class="name">
                  <Link to="runs" params={{ filter: `job:${quoted(job)}` }}>
                    {job}
                  </Link>
                </td>
                <td class="num">{countText(ends)}</td>
                <td class="num">{countText(failed)}</td>
                <td class="num soft">{shareText(failed, ends)}</td>
                <td class="num">{countText(sumOf(own, (point) => point.retries))}</td>
                <td class={dead > 0 ? "num dead" : "num"}>{countText(dead)}</td>
                <td class="num soft">{at("wait", 0.5)}</td>
                <td class="num soft">{at("wait", 0.99)}</td>
                <td class="num soft">{at("duration", 0.5)}</td>
                <td class="num soft">{at("duration", 0.99)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
