/**
 * Tells which occurrences a misfire policy with a bound has left out: once for each stretch.
 *
 * A schedule that waits for its runs to finish loses an occurrence at a time. Those are gathered, and told now and then.
 */
import type { Events } from "../../observe/events.ts"
import type { MisfireBound, Stretch } from "../../schedule/decide.ts"
import { toDate } from "../../time/instant.ts"
import type { Decided, ScheduleRow } from "./decided.ts"

/** After the commit: what was decided about these schedules. */
export type TellDropped = (decided: readonly Decided<ScheduleRow & { readonly name: string }>[]) => void

const GATHER_MS = 600_000
const MOST_REMEMBERED = 10_000

interface Bounded extends Stretch {
  readonly bound: MisfireBound
}

interface Told {
  readonly atMs: number
  /** What has been left out since. */
  readonly more: Bounded | undefined
}

export function createDropTeller(events: Pick<Events, "emit">): TellDropped {
  /** Of schedules that wait. */
  const told = new Map<string, Told>()

  function tellOne({ row, decision, scheduled }: Parameters<TellDropped>[0][number]): void {
    const { id, name, now_ms: nowMs } = row
    const before = told.get(id)
    const dropped = decision.passed.filter(isBounded).reduce(together, before?.more)
    const isGathering = decision.isHeld && before !== undefined && nowMs - before.atMs < GATHER_MS
    if (isGathering) {
      told.set(id, { ...before, more: dropped })
      return
    }
    told.delete(id)
    if (dropped === undefined) return
    if (told.size >= MOST_REMEMBERED) told.clear()
    if (decision.isHeld) told.set(id, { atMs: nowMs, more: undefined })
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
