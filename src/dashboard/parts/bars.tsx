/** Small bars: ranked lists, sparklines of bars, and the strip of the last occurrences. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** A hatched fill, which cannot be told by colour alone. */
export function Hatch({ id, kind }: { readonly id: string; readonly kind: "planned" | "lost" | "parked" }) {
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <path d="M0 0v5" class={`hatch-${kind}`} stroke-width="2.4" />
    </pattern>
  )
}

interface BarProps {
  readonly share: number
  readonly tone?: "warning" | "problem" | undefined
  readonly hatched?: boolean
}

export function Bar({ share, tone, hatched = false }: BarProps) {
  const id = useId()
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return (
    <svg class="bar" aria-hidden="true">
      {hatched && (
        <defs>
          <Hatch id={id} kind="planned" />
        </defs>
      )}
      <rect class="bar-track" width="100%" height="8" rx="1.5" />
      {hatched ? (
        <rect width="100%" height="8" rx="1.5" fill={`url(#${id})`} />
      ) : (
        <rect class={`bar-fill ${tone ? `is-${tone}` : ""}`} width={width} height="8" rx="1.5" />
      )}
    </svg>
  )
}

export interface Ranked {
  readonly key: string
  readonly label: ComponentChildren
  readonly value: number
  readonly text: ComponentChildren
  readonly more?: ComponentChildren
  readonly tone?: "warning" | "problem" | undefined
  readonly hatched?: boolean
  /** A picture in the place of the bar. */
  readonly picture?: ComponentChildren
}

const MOST_ROWS = 6

/** At most six rows; the last stands for all others. */
export function RankedBars({
  rows,
  max,
  pair,
}: {
  readonly rows: readonly Ranked[]
  readonly max?: number
  readonly pair?: boolean
}) {
  const most = max ?? Math.max(1, ...rows.map(({ value }) => value))
  return (
    <ol class="ranked">
      {rows.map(({ key, label, value, text, more, tone, hatched = false, picture }) => (
        <li key={key} class={[pair && "pair", tone === "problem" && "bad"].filter(Boolean).join(" ")}>
          <span class="cut">{label}</span>
          {picture ?? <Bar share={value / most} tone={tone} hatched={hatched} />}
          <span class="num nowrap">{text}</span>
          {pair && <span class="num nowrap">{more}</span>}
        </li>
      ))}
    </ol>
  )
}

/** The first rows, and one for the rest. */
export function withOthers<T>(rows: readonly T[], fold: (others: readonly T[]) => T): readonly T[] {
  return rows.length <= MOST_ROWS ? rows : [...rows.slice(0, MOST_ROWS - 1), fold(rows.slice(MOST_ROWS - 1))]
}

interface SparkBarsProps {
  readonly values: readonly number[]
  readonly finding: string
  readonly tone?: "dead" | "warning"
  readonly height?: number
}

/** One bar for each step, on a common line. */
export function SparkBars({ values, finding, tone, height = 20 }: SparkBarsProps) {
  const most = Math.max(1, ...values)
  const step = 100 / Math.max(1, values.length)
  return (
    <svg
      class="spark"
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={finding}
    >
      <line x1="0" x2="100" y1={height - 0.5} y2={height - 0.5} vector-effect="non-scaling-stroke" />
      {values.map((value, index) => {
        const tall = value === 0 ? 0 : Math.max(1.5, (value / most) * (height - 2))
        return (
          value > 0 && (
            <rect
              key={index}
              class={tone && `is-${tone}`}
              x={index * step}
              y={height - tall}
              width={step * 0.72}
              height={tall}
            />
          )
        )
      })}
    </svg>
  )
}

export type Occurrence = "succeeded" | "retried" | "dead" | "none" | "running" | "waiting" | "off" | "not-yet"

const STRIP_LENGTH = 30
const WIDE = 5.75

/** The last 30 occurrences: full is well, a yellow foot is after retries, cut is dead, a dash made no run. */
export function Strip({ occurrences }: { readonly occurrences: readonly Occurrence[] }) {
  const last = occurrences.slice(-STRIP_LENGTH)
  const all = [...Array.from({ length: STRIP_LENGTH - last.length }, () => "not-yet" as const), ...last]
  const dead = last.filter((one) => one === "dead").length
  const none = last.filter((one) => one === "none").length
  const finding = `Of the last ${last.length} occurrences, ${dead} ended dead and ${none} made no run`
  return (
    <svg class="strip" viewBox="0 0 172 16" role="img" aria-label={finding}>
      {all.map((one, index) => (
        <StripBar key={index} kind={one} x={index * WIDE} />
      ))}
    </svg>
  )
}

function StripBar({ kind, x }: { readonly kind: Occurrence; readonly x: number }) {
  const at = { x, width: 4.2, class: `s-${kind}` }
  if (kind === "not-yet") return <rect x={x + 1.3} y="12.5" width="1.5" height="1.5" class="s-not-yet" />
  if (kind === "none") return <rect {...at} y="12.5" height="1.6" />
  if (kind === "running" || kind === "waiting") return <rect {...at} y="7" height="8" />
  if (kind === "dead") {
    return (
      <>
        <rect {...at} y="1" height="6" />
        <rect {...at} y="9" height="6" />
      </>
    )
  }
  if (kind === "retried") {
    return (
      <>
        <rect {...at} class="s-succeeded" y="1" height="9" />
        <rect {...at} y="11.2" height="3.8" />
      </>
    )
  }
  return <rect {...at} y="1" height="14" />
}

export function StripLegend() {
  const kinds = [
    ["succeeded", "succeeded"],
    ["retried", "after retries"],
    ["dead", "dead"],
    ["none", "made no run"],
    ["running", "running"],
  ] as const
  return (
    <span class="legend">
      {kinds.map(([kind, words]) => (
        <span key={kind}>
          <svg class="strip" viewBox="0 0 6 16" aria-hidden="true">
            <StripBar kind={kind} x={0.5} />
          </svg>
          {words}
        </span>
      ))}
    </span>
  )
}
