/** Series over time, drawn by uPlot: thin lines, grey until one crosses its bound, labels below. */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { useDashboard } from "../app/dashboard.ts"
import { dayText, minuteText } from "../app/times.ts"

export interface Series {
  readonly label: string
  /** One value for each instant; null where there is none. */
  readonly values: readonly (number | null)[]
  readonly tone?: "problem" | "warning" | "first" | "quiet" | undefined
}

interface LineChartProps {
  /** Instants in ms, ascending. */
  readonly atMs: readonly number[]
  readonly series: readonly Series[]
  readonly finding: string
  readonly height?: number
  readonly log?: boolean
  readonly valueText: (value: number) => string
  /** A dashed line. */
  readonly bound?: { readonly value: number; readonly label: string } | undefined
}

export function LineChart({
  atMs,
  series,
  finding,
  height = 132,
  log = false,
  valueText,
  bound,
}: LineChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const { zone, theme } = useDashboard()
  const inZone = zone.value
  const chosenTheme = theme.value
  const lines = series.map(({ label, tone }) => `${label}:${tone}`)
  const shape = [...lines, log, bound?.value, inZone, chosenTheme].join("|")
  const data: uPlot.AlignedData = [atMs.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])]

  useEffect(() => {
    const element = host.current
    if (!element) return
    const colour = (name: string) => resolvedColour(element, name)
    const spanMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0)
    const line = colour("--line")
    const text = colour("--fg-3")
    const axis = { stroke: text, font: "11px sans-serif", ticks: { show: false }, gap: 4 }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 5 }, drag: { x: false } },
        scales: { y: log ? { distr: 3, log: 10 } : { range: (_, __, high) => [0, Math.max(high, 1) * 1.1] } },
        axes: [
          {
            ...axis,
            size: 22,
            space: 70,
            grid: { show: false },
            values: (_, ticks) =>
              ticks.map((s) =>
                spanMs > 2 * 86_400_000
                  ? dayText(s * 1_000, inZone, Date.now())
                  : minuteText(s * 1_000, inZone),
              ),
          },
          {
            ...axis,
            size: 50,
            space: 28,
            ...(log && {
              splits: (_: uPlot, __: number, low: number, high: number) => powersOfTen(low, high),
            }),
            grid: { stroke: line, width: 1 },
            values: (_, ticks) => ticks.map(valueText),
          },
        ],
        series: [
          {},
          ...series.map(({ label, tone }) => ({
            label,
            width: 1.5,
            points: { show: false },
            spanGaps: true,
            stroke: colour(strokeOf(tone)),
          })),
        ],
        hooks: { draw: [(plot) => bound && drawBound(plot, bound, { stroke: text, text })] },
      },
      data,
      element,
    )
    chart.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
      chart.current = undefined
    }
  }, [shape, height])

  useEffect(() => {
    chart.current?.setData(data)
  })

  return (
    <figure class="chart" aria-label={finding}>
      <div ref={host} aria-hidden="true" class={`chart-plot chart-${height}`} />
      <figcaption class="series-list">
        {series.map(({ label, tone, values }) => (
          <span key={label}>
            <svg viewBox="0 0 14 3" aria-hidden="true">
              <rect width="14" height="2" y="0.5" class={`line-${tone ?? "plain"}`} />
            </svg>
            <span class={tone === "problem" ? "dead" : undefined}>
              {label} {valueText(values.findLast((value) => value !== null) ?? 0)}
            </span>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

/** The lines of a logarithmic axis: enough of them for a picture of this height. */
function powersOfTen(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low))
  const last = Math.ceil(Math.log10(high))
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => 10 ** (first + index))
}

function strokeOf(tone: Series["tone"]): string {
  if (tone === "problem") return "--c-dead"
  if (tone === "warning") return "--c-warn"
  if (tone === "first") return "--fg"
  return tone === "quiet" ? "--line-3" : "--fg-3"
}

/** A canvas needs the colour that `light-dark()` has come to. */
function resolvedColour(element: HTMLElement, name: string): string {
  const probe = document.createElement("i")
  probe.className = `probe-${name.slice(2)}`
  element.append(probe)
  const colour = getComputedStyle(probe).color
  probe.remove()
  return colour
}

function drawBound(
  plot: uPlot,
  { value, label }: { readonly value: number; readonly label: string },
  colours: { readonly stroke: string; readonly text: string },
): void {
  const { ctx, bbox } = plot
  const y = plot.valToPos(value, "y", true)
  if (y < bbox.top || y > bbox.top + bbox.height) return
  ctx.save()
  ctx.strokeStyle = colours.stroke
  ctx.setLineDash([4, 4])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.fillStyle = colours.text
  ctx.textAlign = "left"
  ctx.textBaseline = "bottom"
  ctx.fillText(label, bbox.left + 4, y - 2)
  ctx.restore()
}
