/**
 * Emits events about occurrences that the limits of a misfire policy dropped, one event for each stretch.
 *
 * A schedule that waits for its runs drops one occurrence at a time. These are gathered into one event per ten minutes.
 */
import type { Events } from "../../observe/events.ts"
import type { MisfireBound, Stretch } from "../../schedule/decide.ts"
import { toDate } from "../../time/instant.ts"
import type { ScheduleDecision, ScheduleRow } from "./decisions.ts"

/** Tells the decisions about these schedules, after their commit. */
export type TellDropped = (
  decided: readonly ScheduleDecision<ScheduleRow & { readonly name: string }>[],
) => void

const GATHER_MS = 600_000
const MOST_REMEMBERED = 10_000

interface Bounded extends Stretch {
  readonly bound: MisfireBound
}

interface LastReport {
  readonly atMs: number
  /** The stretch that was dropped since. */
  readonly unreported: Bounded | undefined
}

export function createDropTeller(events: Pick<Events, "emit">): TellDropped {
  /** The last reports about schedules that wait, by their ids. */
  const reports = new Map<string, LastReport>()

  function tellOne({ row, decision, scheduled }: Parameters<TellDropped>[0][number]): void {
    const { id, name, now_ms: nowMs } = row
    const lastReport = reports.get(id)
    const dropped = decision.passed.filter(isBounded).reduce(together, lastReport?.unreported)
    const isGathering = decision.isHeld && lastReport !== undefined && nowMs - lastReport.atMs < GATHER_MS
    if (isGathering) {
      reports.set(id, { ...lastReport, unreported: dropped })
      return
    }
    reports.delete(id)
    if (dropped === undefined) return
    if (reports.size >= MOST_REMEMBERED) reports.clear()
    if (decision.isHeld) reports.set(id, { atMs: nowMs, unreported: undefined })
    const { first, last, count, bound } = dropped
    events.emit({
      type: "schedule.dropped",
      schedule: id,
      name,
      first: toDate(first),
      last: toDate(last),
      count,
      bound,
      misfire: scheduled.policy.misfire.mode,
    })
  }

  return (decided) => {
    for (const each of decided) tellOne(each)
  }
}

function isBounded(stretch: Stretch): stretch is Bounded {
  return stretch.bound !== undefined
}

function together(before: Bounded | undefined, next: Bounded): Bounded {
  return before === undefined ? next : { ...next, first: before.first, count: before.count + next.count }
}
