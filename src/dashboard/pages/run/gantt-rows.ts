/** The attempts of a run as rows of segments on one axis of time. */
import type { Attempt, Run } from "../../app/records.ts"

export type SegmentKind =
  | "waiting"
  | "ready"
  | "parked"
  | "running"
  | "succeeded"
  | "failed"
  | "lost"
  | "back-off"

export interface Segment {
  readonly kind: SegmentKind
  readonly fromMs: number
  readonly toMs: number
}

export interface GanttRow {
  readonly key: string
  readonly number: string
  readonly state: string
  readonly worker: string
  readonly segments: readonly Segment[]
  /** Where the row ends, for the label behind it. */
  readonly endMs: number
  readonly note: string
  readonly durationMs?: number
}

export interface Gantt {
  readonly rows: readonly GanttRow[]
  readonly fromMs: number
  readonly toMs: number
}

export function ganttOf(run: Run, attempts: readonly Attempt[], nowMs: number): Gantt {
  const rows = attempts.map((attempt, index) => attemptRow(attempt, attempts[index + 1], run))
  const present = presentRow(run, nowMs)
  const all = present ? [...rows, present] : rows
  const times = all.flatMap(({ segments, endMs }) => [
    endMs,
    ...segments.flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
  ])
  const fromMs = Math.min(...times, Date.parse(run.dueAt))
  const toMs = Math.max(...times, fromMs + 1)
  // Room behind the last bar, for its words.
  return { rows: all, fromMs, toMs: toMs + (toMs - fromMs) * 0.12 }
}

function attemptRow(attempt: Attempt, next: Attempt | undefined, run: Run): GanttRow {
  const dueMs = Date.parse(attempt.dueAt)
  const endMs = Date.parse(attempt.finishedAt)
  const startMs = attempt.startedAt === undefined ? endMs : Date.parse(attempt.startedAt)
  const nextDueMs = next ? Date.parse(next.dueAt) : run.state === "waiting" ? Date.parse(run.dueAt) : endMs
  const segments: Segment[] = []
  // A worker that died may have taken the knowledge of the start with it.
  if (attempt.startedAt === undefined && attempt.outcome === "lost") {
    segments.push({ kind: "lost", fromMs: dueMs, toMs: endMs })
  } else if (startMs > dueMs) segments.push({ kind: "ready", fromMs: dueMs, toMs: startMs })
  if (attempt.startedAt !== undefined) {
    segments.push({ kind: barOf(attempt.outcome), fromMs: startMs, toMs: endMs })
  }
  if (nextDueMs > endMs) segments.push({ kind: "back-off", fromMs: endMs, toMs: nextDueMs })
  return {
    key: attempt.id,
    number: attempt.charged ? String(attempt.attempt) : "–",
    state: attempt.outcome,
    worker: attempt.worker ?? "",
    segments,
    endMs: Math.max(endMs, nextDueMs),
    note: noteOf(attempt, nextDueMs - endMs),
    ...(attempt.durationMs !== undefined && { durationMs: attempt.durationMs }),
  }
}

function barOf(outcome: Attempt["outcome"]): SegmentKind {
  if (outcome === "succeeded") return "succeeded"
  if (outcome === "lost") return "lost"
  return outcome === "failed" || outcome === "timed_out" ? "failed" : "running"
}

function noteOf(attempt: Attempt, backOffMs: number): string {
  if (attempt.outcome === "lost") return "no heartbeat, taken back"
  return backOffMs > 0 ? "back-off" : ""
}

/** What the run does now, if it has not ended. */
function presentRow(run: Run, nowMs: number): GanttRow | undefined {
  const kinds: Readonly<Record<string, SegmentKind>> = {
    waiting: "waiting",
    parked: "parked",
    ready: "ready",
    running: "running",
  }
  const kind = kinds[run.state]
  if (!kind) return undefined
  const dueMs = Date.parse(run.dueAt)
  const fromMs = kind === "waiting" ? Math.min(nowMs, dueMs) : Math.min(dueMs, nowMs)
  const toMs = kind === "waiting" ? dueMs : nowMs
  return {
    key: "now",
    number: String(kind === "running" ? Math.max(1, run.attempt) : run.attempt + 1),
    state: run.state,
    worker: kind === "running" ? (run.worker ?? "") : "",
    segments: [{ kind, fromMs, toMs: Math.max(fromMs, toMs) }],
    endMs: Math.max(fromMs, toMs),
    note: "",
    durationMs: Math.max(0, nowMs - fromMs),
  }
}

/** Round instants for an axis, about `count` of them. */
export function ticksOf(fromMs: number, toMs: number, count: number): readonly number[] {
  const steps = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
    1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
    2_592_000_000,
  ]
  const wanted = (toMs - fromMs) / count
  const step = steps.find((one) => one >= wanted) ?? Math.ceil(wanted / 2_592_000_000) * 2_592_000_000
  const first = Math.ceil(fromMs / step) * step
  return Array.from(
    { length: Math.max(0, Math.floor((toMs - first) / step) + 1) },
    (_, index) => first + index * step,
  )
}
