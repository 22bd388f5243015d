/**
 * I13: a paused schedule makes no runs, also not afterwards for the pause, unless the resume says so; and an edit
 * changes no run that was made before it.
 *
 * The audit says when a pause began and ended. The pause ends a little before its row, so the last moments of a pause
 * are judged only if the decision came before the end.
 */
import type { Facts } from "./facts.ts"
import type { AuditRow, FireRow, ScheduleRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"
import { auditOf, editsOf, pausesOf } from "./schedule-life.ts"

/** Between the clock of a resume and the moment in the audit. */
const SLACK_US = 2_000_000

export function pauseAndEdit(facts: Facts): Judgement {
  const audit = auditOf(facts.read)
  let judged = 0
  const complaints = facts.read.schedules.flatMap((schedule) => {
    const rows = audit.get(schedule.id) ?? []
    // A backfill makes runs of paused occurrences, and they are due when they are made.
    if (rows.some(({ action }) => action === "schedule.backfill")) return []
    const pauses = pausesOf(rows, facts.read.nowUs).filter(({ isMadeUpFor }) => !isMadeUpFor)
    const edits = editsOf(rows)
    judged += pauses.length + edits.length
    const fired = (facts.ledgers.get(schedule.id) ?? []).filter(
      ({ outcome, generation }) => outcome === "fired" && generation === 1,
    )
    return [
      ...fired.flatMap((fire) => complaintsAboutPauses(schedule, fire, pauses)),
      ...fired.flatMap((fire) => complaintsAboutEdits(facts, fire, edits)),
    ]
  })
  return judgement("I13", judged, complaints)
}

function complaintsAboutPauses(
  { name }: ScheduleRow,
  { occurrenceUs, decidedAtUs }: FireRow,
  pauses: ReturnType<typeof pausesOf>,
): Complaint[] {
  const pause = pauses.find(({ fromUs, toUs }) => {
    const endUs = decidedAtUs < toUs ? toUs : toUs - SLACK_US
    return occurrenceUs > fromUs && occurrenceUs <= endUs
  })
  if (!pause) return []
  const says = `Schedule ${name} has made a run of ${iso(occurrenceUs)}, when it was paused since ${iso(pause.fromUs)}.`
  return [{ subject: name, says }]
}

/** Its job and its due time are as they were at its creation. */
function complaintsAboutEdits(facts: Facts, fire: FireRow, edits: readonly AuditRow[]): Complaint[] {
  const run = facts.byRun.get(fire.run ?? "")
  const edit = edits.find(({ atUs }) => atUs > fire.decidedAtUs)
  const [made] = [...(run?.rows ?? []), ...(run?.live ?? [])]
  if (
    !run ||
    !edit ||
    !made ||
    made.cause !== null ||
    run.audit.some(({ action }) => action === "run.expedite")
  )
    return []
  const job = edit.before?.job
  const says = [
    ...sayIf(job !== undefined && made.job !== job, () => `its job was ${job} and is ${made.job}`),
    ...sayIf(
      fire.dueAtUs !== null && made.dueAtUs !== fire.dueAtUs,
      () => `it was due at ${iso(fire.dueAtUs ?? 0)} and is at ${iso(made.dueAtUs)}`,
    ),
  ]
  return says.map((each) => ({
    subject: run.run,
    says: `Run ${run.run} was made before its schedule was edited, and was changed by that: ${each}.`,
  }))
}

function iso(us: number): string {
  return new Date(us / 1_000).toISOString()
}
