/**
 * I24: after the last fault, everything that is due is done.
 *
 * No due run is unclaimed, no run is running any more, no run stands in line for a limit that has room, no place
 * under a limit is held by a run that is gone, and no active schedule is behind. Runs that are parked by a pause, or
 * for lack of a handler, wait for people. Work that is due less than `withinMs` after the healing may still be in
 * flight, where new work goes on coming in.
 */
import { entriesOf, type Facts, groupBy } from "./facts.ts"
import type { LiveRun } from "./final-read.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"

/** Far longer than a scheduler sleeps. */
const BEHIND_US = 10_000_000

export function liveness(facts: Facts): Judgement {
  const healed = entriesOf(facts.history, "healed").at(-1)
  if (!healed) return judgement("I24", 0)
  const sinceUs = facts.read.nowUs - (healed.withinMs ?? 0) * 1_000
  return judgement("I24", facts.runs.length + facts.read.schedules.length, [
    ...facts.read.runs.flatMap((run) => complaintsAboutRun(run, sinceUs)),
    ...complaintsAboutLines(facts),
    ...complaintsAboutSchedules(facts, sinceUs),
  ])
}

function complaintsAboutRun(
  { run, state, dueAtUs, enqueuedAtUs, lease }: LiveRun,
  sinceUs: number,
): Complaint[] {
  const say = (says: string) => [{ subject: run, says: `Run ${run} ${says}` }]
  if (Math.max(dueAtUs, enqueuedAtUs) > sinceUs) return []
  if (state === "running") return say(`is still held by lease ${lease}, although every fault has ended.`)
  if (state === "ready") return say(`is ready, and no worker claims it, although every fault has ended.`)
  if (state === "waiting") return say(`is due and still waiting, although every fault has ended.`)
  return []
}

/** The cap of a line is its limit's; undeclared lines, and those of schedules, have one place. */
function complaintsAboutLines({ read }: Facts): Complaint[] {
  const caps = new Map(read.limits.map(({ name, cap }) => [name, cap]))
  const live = new Map(read.runs.map((run) => [run.run, run]))
  const lines = groupBy(read.runLimits, ({ key }) => key)
  const hasRoom = new Map<string, boolean>()
  for (const [key, places] of lines) {
    const cap = caps.get(places[0]?.limit ?? "") ?? 1
    hasRoom.set(key, places.filter(({ admitted }) => admitted === true).length < cap)
  }
  const parked = groupBy(read.runLimits, ({ run }) => run)
  return [
    ...read.runLimits
      .filter(({ run }) => !live.has(run))
      .map(({ run, key }) => ({
        subject: run,
        says: `Run ${run} has ended and keeps a place under limit ${key}.`,
      })),
    ...[...parked].flatMap(([run, places]) => {
      const isParked = live.get(run)?.parkedFor === "limit"
      const wanted = places.filter(({ admitted }) => admitted !== true)
      if (!isParked || !wanted.every(({ key }) => hasRoom.get(key))) return []
      const keys = wanted.map(({ key }) => key).join(", ")
      return [{ subject: run, says: `Run ${run} stands in line under ${keys}, where there is room.` }]
    }),
  ]
}

/** A schedule whose runs are not finished may be waiting for them. */
function complaintsAboutSchedules({ read }: Facts, sinceUs: number): Complaint[] {
  const busy = new Set(read.runs.map(({ schedule }) => schedule))
  return read.schedules
    .filter(({ state, nextAtUs }) => state === "active" && (nextAtUs ?? sinceUs) < sinceUs - BEHIND_US)
    .filter(({ id }) => !busy.has(id))
    .map(({ name, nextAtUs }) => ({
      subject: name,
      says: `Schedule ${name} was due at ${new Date((nextAtUs ?? 0) / 1_000).toISOString()}, and is still undecided.`,
    }))
}
