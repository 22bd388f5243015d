/** Pools and workers: what waits where, who works on it, and how full they are. */

import { withParams } from "../app/api.ts"
import { useDashboard } from "../app/dashboard.ts"
import { quoted } from "../app/filter-text.ts"
import { bytesText, cappedText, countText, percentileOf, plural } from "../app/numbers.ts"
import type { Page, Pool, StatsNow, StatsPoint, Worker } from "../app/records.ts"
import { addedBuckets, BUCKETS_MS, groupedBy, minutesFrom, perStep, sumOf } from "../app/stats-sums.ts"
import { lengthText } from "../app/times.ts"
import { useQuery } from "../app/use-query.ts"
import { StateMark } from "../marks/state-mark.tsx"
import { Bar, SparkBars } from "../parts/bars.tsx"
import { Instant } from "../parts/instant.tsx"
import { Link, RunLink } from "../parts/link.tsx"
import { Loaded, Message, Panel } from "../parts/panel.tsx"
import { Scroll } from "../parts/scroll.tsx"
import { PauseButton } from "./pools/pause-button.tsx"

const HALF_HOUR_MS = 30 * 60_000
const MINUTE_MS = 60_000
const MINUTES = 30
const LATE_MS = 5 * 60_000
const SOON_MS = 60_000

export function PoolsPage() {
  const { nowMs } = useDashboard()
  const fromMs = Math.floor(nowMs.value / MINUTE_MS) * MINUTE_MS - HALF_HOUR_MS
  const now = useQuery<StatsNow>("/stats/now", { everyMs: 3_000 })
  const workers = useQuery<Page<Worker>>("/workers?limit=200", { everyMs: 3_000 })
  const ends = useQuery<{ readonly items: readonly StatsPoint[] }>(
    withParams("/stats", { from: new Date(fromMs).toISOString(), by: "pool" }),
    { everyMs: 10_000 },
  )
  const pools = now.data?.pools ?? []
  const slots = sumOf(pools, (pool) => pool.slots)
  return (
    <div class="page">
      <Panel
        title="Pools"
        note={
          now.data &&
          `${plural(pools.length, "pool")}, ${sumOf(pools, ({ used }) => used)} of ${slots} slots in use`
        }
        lined
        flush
      >
        <Loaded query={now}>
          {() =>
            pools.length === 0 ? (
              <Message title="No pools yet">
                <p>A pool appears when a job names it, or a worker serves it.</p>
              </Message>
            ) : (
              <PoolTable
                pools={pools}
                ends={ends.data?.items ?? []}
                fromMs={fromMs}
                onChanged={now.refresh}
              />
            )
          }
        </Loaded>
      </Panel>
      <Panel
        title="Workers"
        note={<WorkersNote workers={workers.data?.items} />}
        lined
        flush
        end={<SlotLegend />}
      >
        <Loaded query={workers}>
          {({ items }) =>
            items.length === 0 ? (
              <Message title="No worker is live">
                <p>Start a process that has jobs: `await carillon.start()`.</p>
              </Message>
            ) : (
              <WorkerTable workers={items} />
            )
          }
        </Loaded>
      </Panel>
    </div>
  )
}

interface PoolTableProps {
  readonly pools: readonly Pool[]
  readonly ends: readonly StatsPoint[]
  readonly fromMs: number
  readonly onChanged: () => void
}

function PoolTable({ pools, ends, fromMs, onChanged }: PoolTableProps) {
  const steps = minutesFrom(fromMs, MINUTES)
  const byPool = groupedBy(ends, ({ pool }) => pool ?? "")
  return (
    <Scroll>
      <table class="table">
        <thead>
          <tr>
            <th>Pool</th>
            <th class="num">Workers</th>
            <th>Slots in use</th>
            <th class="num" aria-label="Used slots" />
            <th class="num">Waiting</th>
            <th class="num">Parked</th>
            <th class="num">Ready</th>
            <th class="num">Oldest due</th>
            <th class="num">p99 wait</th>
            <th>Ended, last 30 min</th>
            <th class="num">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {pools.map((pool) => (
            <PoolRow
              key={pool.name}
              pool={pool}
              points={byPool.get(pool.name) ?? []}
              steps={steps}
              onChanged={onChanged}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

interface PoolRowProps {
  readonly pool: Pool
  readonly points: readonly StatsPoint[]
  readonly steps: readonly number[]
  readonly onChanged: () => void
}

function PoolRow({ pool, points, steps, onChanged }: PoolRowProps) {
  const { nowMs } = useDashboard()
  const { name, workers, slots, used, oldestDueAt, paused, capped, ready } = pool
  const ageMs = oldestDueAt === undefined ? 0 : Math.max(0, nowMs.value - Date.parse(oldestDueAt))
  const wait = percentileOf(BUCKETS_MS, addedBuckets(points.map((point) => point.wait.buckets)), 0.99)
  const perMinute = perStep(points, steps, (point) => point.ends)
  const isUnserved = workers === 0
  const count = (value: number) => cappedText({ count: value, capped: capped && value >= 10_000 })
  return (
    <tr class={paused ? "off" : undefined}>
      <td>
        <Link to="runs" params={{ filter: `pool:${quoted(name)}` }} class="name">
          {name}
        </Link>
        {paused && (
          <span class="badge badge-line" title={paused.reason}>
            paused{paused.actor === "" ? "" : ` by ${paused.actor}`}
          </span>
        )}
      </td>
      <td class={`num ${isUnserved && ready > 0 ? "dead" : ""}`}>{workers}</td>
      <td class="bar-cell">
        {isUnserved ? (
          <span class={ready > 0 ? "dead" : "dim"}>no worker</span>
        ) : (
          <Bar share={slots === 0 ? 0 : used / slots} tone={used >= slots ? "warning" : undefined} />
        )}
      </td>
      <td class="num">
        {isUnserved ? (
          ""
        ) : (
          <>
            {used} <span class="dim">/ {slots}</span>
          </>
        )}
      </td>
      <td class="num soft">{count(pool.waiting)}</td>
      <td class="num soft">{count(pool.parked)}</td>
      <td class="num">{count(ready)}</td>
      <td class={`num ${ageMs > LATE_MS ? "dead" : ageMs > SOON_MS ? "warn" : "soft"}`}>
        {oldestDueAt === undefined ? "–" : lengthText(ageMs)}
      </td>
      <td class="num soft">{wait === undefined ? "–" : lengthText(wait)}</td>
      <td class="spark-cell">
        <SparkBars
          values={perMinute}
          finding={`${countText(sumOf(perMinute, (value) => value))} attempts ended in 30 minutes`}
        />
      </td>
      <td class="num">
        <PauseButton kind="pool" name={name} paused={paused} onChanged={onChanged} />
      </td>
    </tr>
  )
}

function WorkersNote({ workers = [] }: { readonly workers: readonly Worker[] | undefined }) {
  const versions = [...groupedBy(workers, ({ version }) => version ?? "no version")]
  return (
    <>
      {workers.length} live
      {versions.length > 1 && (
        <span class="warn">
          {" "}
          · {versions.length} versions:{" "}
          {versions.map(([version, own]) => `${version} on ${own.length}`).join(", ")}
        </span>
      )}
    </>
  )
}

function WorkerTable({ workers }: { readonly workers: readonly Worker[] }) {
  return (
    <Scroll>
      <table class="table">
        <thead>
          <tr>
            <th>State</th>
            <th>Worker</th>
            <th>Pools</th>
            <th>Version</th>
            <th>Slots</th>
            <th class="num" aria-label="Used slots" />
            <th class="num">Lease until</th>
            <th class="num">Started</th>
            <th class="num">Loop delay</th>
            <th class="num">Memory</th>
            <th>Runs</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <WorkerRow key={worker.id} worker={worker} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const SLOW_LOOP_MS = 100
const MOST_SLOTS = 24
const MOST_RUNS = 3

function WorkerRow({ worker }: { readonly worker: Worker }) {
  const { host, pid, pools, version, leaseUntil, startedAt, eventLoopDelayMs, memoryBytes, runs } = worker
  const { nowMs } = useDashboard()
  const slots = sumOf(pools, (pool) => pool.slots ?? 0)
  const used = sumOf(pools, (pool) => pool.used ?? 0)
  const isLive = Date.parse(leaseUntil) > nowMs.value
  return (
    <tr>
      <td>
        <span class="state">
          <StateMark name={isLive ? "fine" : "lost"} />
          {isLive ? "Live" : "Lost"}
        </span>
      </td>
      <td title={worker.id}>
        <span class="mono">{host}</span> <span class="dim small">pid {pid}</span>
      </td>
      <td class="soft cut pools-cell" title={pools.map(({ name }) => name).join(", ")}>
        {pools.map(({ name }) => name).join(", ")}
      </td>
      <td class="mono">{version ?? <span class="dim">–</span>}</td>
      <td>
        <Slots slots={slots} used={used} />
      </td>
      <td class="num">
        {used} <span class="dim">/ {slots}</span>
      </td>
      <td class="num soft">
        <Instant at={leaseUntil} as="distance" />
      </td>
      <td class="num soft">
        <Instant at={startedAt} as="distance" />
      </td>
      <td class={`num ${(eventLoopDelayMs ?? 0) > SLOW_LOOP_MS ? "warn" : "soft"}`}>
        {eventLoopDelayMs === undefined ? "–" : lengthText(Math.max(1, eventLoopDelayMs))}
      </td>
      <td class="num soft">{memoryBytes === undefined ? "–" : bytesText(memoryBytes)}</td>
      <td class="fill">
        <span class="line">
          {runs.slice(0, MOST_RUNS).map((id) => (
            <RunLink key={id} id={id} />
          ))}
          {runs.length > MOST_RUNS && <span class="dim">and {runs.length - MOST_RUNS} more</span>}
        </span>
      </td>
    </tr>
  )
}

const SLOT_WIDE = 9

function Slots({ slots, used }: { readonly slots: number; readonly used: number }) {
  const shown = Math.min(slots, MOST_SLOTS)
  const full = slots === 0 ? 0 : Math.round((used / slots) * shown)
  return (
    <svg
      class="slots"
      width={shown * SLOT_WIDE}
      viewBox={`0 0 ${shown * SLOT_WIDE} 12`}
      role="img"
      aria-label={`${used} of ${slots} slots in use`}
    >
      {Array.from({ length: shown }, (_, index) => (
        <rect
          key={index}
          class={index < full ? "slot-used" : "slot-free"}
          x={index * SLOT_WIDE + 0.5}
          y="0.5"
          width="6.5"
          height="11"
          rx="1.5"
        />
      ))}
    </svg>
  )
}

function SlotLegend() {
  return (
    <span class="legend">
      {(["used", "free"] as const).map((kind) => (
        <span key={kind}>
          <svg viewBox="0 0 8 12" aria-hidden="true">
            <rect class={`slot-${kind}`} x="0.5" y="0.5" width="7" height="11" rx="1.5" />
          </svg>
          {kind === "used" ? "running" : "free"}
        </span>
      ))}
    </span>
  )
}
