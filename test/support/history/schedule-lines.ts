/**
 * The lines in which the runs of a schedule wait for each other (overlap `queue`): the run of an earlier occurrence
 * starts before the runs of later ones.
 *
 * Judged are schedules without an edit or a backfill, and runs that were not changed by hand. A pause of the job, of
 * the pool or of the schedule changes nothing about it.
 */
import { entriesOf, type Facts } from "./facts.ts"
import type { FireRow, ScheduleRow } from "./final-read.ts"
import type { Complaint } from "./judgement.ts"
import { auditOf } from "./schedule-life.ts"
import { overlapOf } from "./schedule-times.ts"

/** A started run, under its occurrence. */
interface Turn {
  readonly run: string
  readonly decidedAtUs: number
  readonly startedNs: bigint
}

/** The start times of each line, in the order of the occurrences. */
export function scheduleLines(facts: Facts): Turn[][] {
  const audit = auditOf(facts.read)
  const isMadeUpFor = ({ id }: ScheduleRow) =>
    audit.get(id)?.some(({ action }) => action === "schedule.backfill") ?? false
  return facts.read.schedules
    .filter((schedule) => isLine(schedule) && !isMadeUpFor(schedule))
    .map(({ id }) => (facts.ledgers.get(id) ?? []).flatMap((fire) => turnOf(facts, fire)))
}

/** Each against the one before it that started last. */
export function complaintsAboutLine(line: readonly Turn[]): Complaint[] {
  let latest: Turn | undefined
  return line.flatMap((turn) => {
    const before = latest
    if (!before || turn.startedNs > before.startedNs) latest = turn
    // A run that was decided on later was not there to be overtaken.
    if (!before || turn.startedNs > before.startedNs || turn.decidedAtUs < before.decidedAtUs) return []
    const says =
      `Run ${before.run} was started after run ${turn.run}, which stands for a later occurrence of its ` +
      "schedule."
    return [{ subject: before.run, says }]
  })
}

/** The runs of an edited schedule may have been made under either policy. */
function isLine(schedule: ScheduleRow): boolean {
  return schedule.version === 1 && overlapOf(schedule) === "queue" && !("overlapKey" in schedule.settings)
}

function turnOf({ byRun }: Facts, { run: id, generation, decidedAtUs }: FireRow): Turn[] {
  const run = id === null ? undefined : byRun.get(id)
  const [start] = entriesOf(run?.entries ?? [], "start")
  if (!run || !start || generation !== 1 || run.audit.length > 0) return []
  return [{ run: run.run, decidedAtUs, startedNs: start.ns }]
}
