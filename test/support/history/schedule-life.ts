/** The life of a schedule, told by the audit: its definition from when to when, and its pauses. */
import type { AuditRow, FinalRead, ScheduleRow } from "./final-read.ts"
import type { Spec } from "./schedule-times.ts"

/** The definition from one instant to the next; the last one to the cursor. */
export interface Chapter {
  readonly spec: Spec
  readonly fromUs: number
  readonly toUs: number
  /** It had ended before, at an unknown time. */
  readonly isOver: boolean
}

export interface Span {
  readonly fromUs: number
  readonly toUs: number
}

export interface Pause extends Span {
  /** The resume asked for runs of the occurrences in the pause. */
  readonly isMadeUpFor: boolean
}

/** The audit of each schedule, the earliest first. */
export function auditOf(read: FinalRead): ReadonlyMap<string, readonly AuditRow[]> {
  const of = new Map<string, AuditRow[]>()
  for (const row of read.audit) {
    if (row.schedule === null) continue
    const known = of.get(row.schedule)
    if (known) known.push(row)
    else of.set(row.schedule, [row])
  }
  for (const rows of of.values()) rows.sort((a, b) => a.atUs - b.atUs)
  return of
}

/** Each change of its times begins a chapter. Undefined if changes are missing in the audit. */
export function chaptersOf(
  schedule: ScheduleRow,
  audit: readonly AuditRow[],
  isClockSet = false,
): Chapter[] | undefined {
  const edits = editsOf(audit)
  if (edits.length !== schedule.version - 1) return undefined
  const chapters: Chapter[] = []
  let fromUs = schedule.createdAtUs
  const lastEdit = edits.at(-1)
  for (const edit of [...edits, { before: schedule, atUs: schedule.cursorUs }]) {
    const { before } = edit
    // An edit counts from its moment. It is older than its audit row if the clock was set forward between the two.
    const atUs = isClockSet && edit === lastEdit ? Math.min(edit.atUs, schedule.cursorUs) : edit.atUs
    if (!before?.spec) return undefined
    const last = chapters.at(-1)
    const isSame = last && !last.isOver && JSON.stringify(last.spec) === JSON.stringify(before.spec)
    // An edit of something else leaves the times alone, also those that are still undecided; but a schedule that had
    // ended begins anew.
    if (isSame) chapters.pop()
    const isOver = before.state !== "active" && before.state !== "paused"
    chapters.push({ spec: before.spec, fromUs: isSame ? last.fromUs : fromUs, toUs: atUs, isOver })
    fromUs = atUs
  }
  return chapters
}

/** What made a new version: each says what was before it. */
export function editsOf(audit: readonly AuditRow[]): AuditRow[] {
  const versions = new Map<number, AuditRow>()
  const news = audit.filter(({ action }) => EDITS.has(action))
  for (const row of news) if (row.before?.version !== undefined) versions.set(row.before.version, row)
  return [...versions.values()]
}

const EDITS: ReadonlySet<string> = new Set(["schedule.put", "schedule.patch", "schedule.change"])

/** Its pauses, each to its end or to the end of all. */
export function pausesOf(audit: readonly AuditRow[], untilUs: number): Pause[] {
  const spans: Pause[] = []
  let fromUs: number | undefined
  for (const { action, atUs, after } of audit) {
    if (action === "schedule.pause") fromUs ??= atUs
    if (action !== "schedule.resume" || fromUs === undefined) continue
    spans.push({ fromUs, toUs: atUs, isMadeUpFor: after?.misfire !== undefined })
    fromUs = undefined
  }
  return fromUs === undefined ? spans : [...spans, { fromUs, toUs: untilUs, isMadeUpFor: false }]
}
