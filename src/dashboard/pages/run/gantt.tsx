/** The attempts of a run, drawn: waiting, ready, running, lost and back-off on one axis. */
import { useId } from "preact/hooks"
import { useDashboard } from "../../app/dashboard.ts"
import type { Attempt, Run } from "../../app/records.ts"
import { clockText, instantText, lengthText } from "../../app/times.ts"
import { markOf, StateMark, stateWord } from "../../marks/state-mark.tsx"
import { Hatch } from "../../parts/bars.tsx"
import { type Gantt, type GanttRow, ganttOf, type Segment, ticksOf } from "./gantt-rows.ts"

const TICKS = 6
const LEAST_WIDTH = 0.35
const SHORT_MS = 10_000

interface AttemptsGanttProps {
  readonly run: Run
  readonly attempts: readonly Attempt[]
  readonly chosen: string | undefined
  readonly onChoose: (attempt: string) => void
}

export function AttemptsGantt({ run, attempts, chosen, onChoose }: AttemptsGanttProps) {
  const { nowMs, zone } = useDashboard()
  const now = nowMs.value
  const gantt = ganttOf(run, attempts, now)
  const { fromMs, toMs, rows } = gantt
  const at = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * 100
  const isShort = toMs - fromMs < SHORT_MS
  // What is over in seconds is read from its start, the rest by the clock.
  const ticks = ticksOf(isShort ? 0 : fromMs, isShort ? toMs - fromMs : toMs, TICKS)
    .map((ms) => (isShort ? ms + fromMs : ms))
    .filter((ms) => at(ms) < 97)
  const lost = useId()
  const parked = useId()
  return (
    <ol class="gantt">
      <li class="axis" aria-hidden="true">
        <span />
        <span />
        <span />
        <svg>
          <title>Time</title>
          {ticks.map((ms) => (
            <text key={ms} x={`${at(ms)}%`} y="15" text-anchor="middle">
              {isShort
                ? `+${lengthText(ms - fromMs)}`
                : toMs - fromMs > 86_400_000
                  ? instantText(ms, zone.value, now)
                  : clockText(ms, zone.value).slice(0, toMs - fromMs < 600_000 ? 8 : 5)}
            </text>
          ))}
        </svg>
        <span class="num">took</span>
      </li>
      {rows.map((row) => (
        <Row
          key={row.key}
          row={row}
          gantt={gantt}
          at={at}
          ticks={ticks}
          nowMs={now}
          lost={lost}
          parked={parked}
          isChosen={row.key === chosen}
          onChoose={onChoose}
        />
      ))}
    </ol>
  )
}

interface RowProps {
  readonly row: GanttRow
  readonly gantt: Gantt
  readonly at: (ms: number) => number
  readonly ticks: readonly number[]
  readonly nowMs: number
  readonly lost: string
  readonly parked: string
  readonly isChosen: boolean
  readonly onChoose: (attempt: string) => void
}

function Row({ row, gantt, at, ticks, nowMs, lost, parked, isChosen, onChoose }: RowProps) {
  const isPresent = row.key === "now"
  const says = row.segments
    .map(({ kind, fromMs, toMs }) => `${kind} for ${lengthText(toMs - fromMs)}`)
    .join(", ")
  return (
    <li class={isChosen ? "chosen" : undefined}>
      <span class="num">{row.number}</span>
      <span class="line">
        <StateMark name={markOf(row.state)} />
        {isPresent ? (
          stateWord(row.state)
        ) : (
          <button type="button" class="link" aria-pressed={isChosen} onClick={() => onChoose(row.key)}>
            {stateWord(row.state)}
          </button>
        )}
      </span>
      <span class="dim cut mono" title={row.worker}>
        {row.worker}
      </span>
      <svg role="img" aria-label={says}>
        <defs>
          <Hatch id={lost} kind="lost" />
          <Hatch id={parked} kind="parked" />
        </defs>
        {ticks.map((ms) => (
          <line key={ms} class="g-grid" x1={`${at(ms)}%`} x2={`${at(ms)}%`} y1="-4" y2="26" />
        ))}
        {row.segments.map((segment) => (
          <Bar
            key={`${segment.kind}${segment.fromMs}`}
            segment={segment}
            at={at}
            lost={lost}
            parked={parked}
          />
        ))}
        {nowMs >= gantt.fromMs && nowMs <= gantt.toMs && (
          <line class="g-now" x1={`${at(nowMs)}%`} x2={`${at(nowMs)}%`} y1="-4" y2="26" />
        )}
        {row.note !== "" && (
          <text x={`${at(row.endMs) + 0.6}%`} y="15" class="g-note">
            {row.note}
            {row.note === "back-off" && ` ${backOffOf(row)}`}
          </text>
        )}
      </svg>
      <span class="num soft">{row.durationMs === undefined ? "–" : lengthText(row.durationMs)}</span>
    </li>
  )
}

function backOffOf({ segments }: GanttRow): string {
  const last = segments.at(-1)
  return last?.kind === "back-off" ? lengthText(last.toMs - last.fromMs) : ""
}

const CLASSES: Readonly<Record<Segment["kind"], string>> = {
  waiting: "g-wait",
  ready: "g-ready",
  parked: "g-parked-edge",
  running: "g-run",
  succeeded: "g-run-ok",
  failed: "g-run-dead",
  lost: "g-lost-edge",
  "back-off": "g-back",
}

interface BarProps {
  readonly segment: Segment
  readonly at: (ms: number) => number
  readonly lost: string
  readonly parked: string
}

function Bar({ segment: { kind, fromMs, toMs }, at, lost, parked }: BarProps) {
  const x = at(fromMs)
  const width = Math.max(LEAST_WIDTH, at(toMs) - x)
  if (kind === "back-off") return <line class="g-back" x1={`${x}%`} x2={`${x + width}%`} y1="11" y2="11" />
  const fill = kind === "lost" ? `url(#${lost})` : kind === "parked" ? `url(#${parked})` : undefined
  return <rect class={CLASSES[kind]} x={`${x}%`} width={`${width}%`} y="5" height="12" rx="1.5" fill={fill} />
}

const LEGEND = [
  ["ready", "g-ready"],
  ["running", "g-run"],
  ["succeeded", "g-run-ok"],
  ["failed", "g-run-dead"],
  ["back-off", "g-back"],
] as const

export function GanttLegend() {
  return (
    <span class="legend">
      {LEGEND.map(([words, kind]) => (
        <span key={kind}>
          <svg viewBox="0 0 14 10" aria-hidden="true">
            {kind === "g-back" ? (
              <line class={kind} x1="0" x2="14" y1="5" y2="5" />
            ) : (
              <rect class={kind} x="0.5" y="1" width="13" height="8" rx="1.5" />
            )}
          </svg>
          {words}
        </span>
      ))}
    </span>
  )
}
