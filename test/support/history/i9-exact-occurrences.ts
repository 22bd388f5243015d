/**
 * I9: every occurrence of a schedule up to its cursor is decided once, and each that fires has one run.
 *
 * An oracle that shares nothing with the product computes the occurrences, from the definition at its creation and
 * from each edit on. The ledger has every one of them once: alone with its run, under the id that follows from
 * schedule and occurrence, or in a stretch with the right count. Around an edit, occurrences of the old times and of
 * the new ones may both be there. A skipped occurrence is decided ahead of its time: it is a time of the definition
 * of then, and decided for good, whatever the definition says later. Missed occurrences are made up for as the policy
 * says, and no more of them. Of schedules that cannot be read here, of those that count from the end of their last
 * run and of those with a backfill, only the ledger and its runs are compared.
 */
import { entriesOf, type Facts, type RunFacts } from "./facts.ts"
import type { AuditRow, FireRow, ScheduleRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement, sayIf } from "./judgement.ts"
import { complaintsAboutMisfires } from "./misfires.ts"
import { runOfOccurrence } from "./occurrence-run.ts"
import { auditOf, type Chapter, chaptersOf, pausesOf } from "./schedule-life.ts"
import { durationOf, misfireOf, overlapOf, timesOf } from "./schedule-times.ts"

/** Between the clock of an edit and the moment in the audit. */
const EDIT_SLACK_MS = 2_000
/** A schedule may have been made for the minute that had begun. */
const FIRST_MINUTE_MS = 60_000

export function exactOccurrences(facts: Facts): Judgement {
  const audit = auditOf(facts.read)
  const isClockSet = entriesOf(facts.history, "clock_set").length > 0
  const names = new Map(facts.read.schedules.map((schedule) => [schedule.id, schedule.name]))
  const complaints = facts.read.schedules.flatMap((schedule) => {
    const ledger = facts.ledgers.get(schedule.id) ?? []
    const done = audit.get(schedule.id) ?? []
    const said = [
      ...complaintsAboutCover(schedule, done, ledger, isClockSet),
      ...complaintsAboutPolicy(schedule, done, ledger),
      ...complaintsAboutMissed(schedule, done, ledger),
    ]
    return said.map((says) => complaint(schedule.name, says))
  })
  const judged = facts.read.schedules.length === 0 ? 0 : facts.read.fires.length + facts.read.schedules.length
  return judgement("I9", judged, [
    ...complaints,
    ...facts.read.fires.flatMap((fire) =>
      complaintsAboutRun(fire, facts.byRun.get(fire.run ?? "")).map((says) =>
        complaint(names.get(fire.schedule) ?? fire.schedule, says),
      ),
    ),
    ...facts.runs.flatMap((run) => complaintsAboutOrigin(facts, run)),
  ])
}

function complaint(subject: string, says: string): Complaint {
  return { subject, says: `Schedule ${subject} ${says}` }
}

/** Whether each occurrence is where it should be, and nothing else is. */
function complaintsAboutCover(
  schedule: ScheduleRow,
  audit: readonly AuditRow[],
  ledger: readonly FireRow[],
  isClockSet: boolean,
): string[] {
  if ("afterCompletion" in schedule.spec) return []
  if (hasBackfill(audit)) return []
  const chapters = chaptersOf(schedule, audit, isClockSet)
  const all = chapters && expectedOf(chapters, ledger)
  if (!all) return []
  const requested = ledger.filter(isRequested)
  const leftOut = new Set(requested.map(({ occurrenceUs }) => occurrenceUs / 1_000))
  const expected = all.filter(({ at }) => !leftOut.has(at))
  const said = requested.flatMap((row) => complaintsAboutRequest(row, { schedule, chapters, ledger }))
  let next = 0
  let before: FireRow | undefined
  for (const row of ledger) {
    if (isRequested(row)) continue
    const [first, last] = [row.occurrenceUs / 1_000, row.lastUs / 1_000]
    if (before && row.occurrenceUs <= before.lastUs) {
      said.push(`has decided about ${iso(first)} twice, as ${before.outcome} and as ${row.outcome}.`)
    }
    if (row.lastUs > schedule.cursorUs) {
      said.push(
        `has decided about ${iso(last)}, and has come no further than ${iso(schedule.cursorUs / 1_000)}.`,
      )
    }
    const missing: number[] = []
    for (; next < expected.length && (expected[next]?.at ?? 0) < first; next += 1)
      if (expected[next]?.isCertain) missing.push(expected[next]?.at ?? 0)
    said.push(...complaintsAboutMissing(missing))
    const start = next
    while (next < expected.length && (expected[next]?.at ?? 0) <= last) next += 1
    if (!before || row.occurrenceUs > before.lastUs) {
      said.push(...complaintsAboutStretch(row, expected.slice(start, next)))
    }
    before = before && before.lastUs > row.lastUs ? before : row
  }
  const rest = expected.slice(next).filter(({ isCertain }) => isCertain)
  return [...said, ...complaintsAboutMissing(rest.map(({ at }) => at))]
}

/** It makes runs of what is long over. */
function hasBackfill(audit: readonly AuditRow[]): boolean {
  return audit.some(({ action }) => action === "schedule.backfill")
}

function isRequested({ outcome, reason }: FireRow): boolean {
  return outcome === "skipped" && reason === "request"
}

interface Book {
  readonly schedule: ScheduleRow
  readonly chapters: readonly Chapter[]
  readonly ledger: readonly FireRow[]
}

/** Only an edit of its times takes a schedule back behind an occurrence that it was told to skip. */
function complaintsAboutRequest(row: FireRow, { schedule, chapters, ledger }: Book): string[] {
  const at = row.occurrenceUs / 1_000
  const other = ledger.find((each) => each !== row && each.occurrenceUs === row.occurrenceUs)
  const slackUs = EDIT_SLACK_MS * 1_000
  const isOfThen = chapters.some(
    ({ spec, fromUs, toUs }, index) =>
      fromUs <= row.decidedAtUs + slackUs &&
      (index === chapters.length - 1 || toUs >= row.decidedAtUs - slackUs) &&
      timesOf(spec, at - 1, at)?.includes(at),
  )
  return [
    ...sayIf(
      other !== undefined,
      () => `has decided about ${iso(at)} twice, as ${row.outcome} and as ${other?.outcome}.`,
    ),
    ...sayIf(!isOfThen, () => `has left out ${iso(at)}, which was none of its times then.`),
    ...sayIf(
      row.count !== 1 || row.lastUs !== row.occurrenceUs,
      () =>
        `has left out ${row.count} from ${iso(at)} to ${iso(row.lastUs / 1_000)}, where one is asked for.`,
    ),
    ...sayIf(
      chapters.length === 1 && row.occurrenceUs > schedule.cursorUs,
      () => `has left out ${iso(at)}, and has come no further than ${iso(schedule.cursorUs / 1_000)}.`,
    ),
  ]
}

interface Expected {
  readonly at: number
  /** It must be there; others only may. */
  readonly isCertain: boolean
}

/** All occurrences that there should be, in order; undefined where that cannot be known. */
function expectedOf(chapters: readonly Chapter[], ledger: readonly FireRow[]): Expected[] | undefined {
  const certain = new Map<number, boolean>()
  for (const [index, { spec, fromUs, toUs, isOver }] of chapters.entries()) {
    const isLast = index === chapters.length - 1
    const [from, to] = [fromUs / 1_000, Math.floor(toUs / 1_000)]
    const earliest = from - (index === 0 ? FIRST_MINUTE_MS : EDIT_SLACK_MS)
    const times = timesOf(spec, Math.floor(earliest), to)
    if (!times) return undefined
    const edited = to - EDIT_SLACK_MS
    const bound = isLast ? to : edited
    const known = ledger.map(({ lastUs }) => lastUs / 1_000).filter((last) => last <= bound)
    // A schedule whose runs are used up has no more times, wherever its cursor stands.
    const isUsedUp = !isLast && firedBy(ledger, toUs) >= Number(spec["maxRuns"] ?? Number.POSITIVE_INFINITY)
    const hasEnded = isUsedUp || (isOver && (!isLast || "maxRuns" in spec))
    const until = hasEnded ? Math.max(0, ...known) : bound
    for (const at of times) certain.set(at, (certain.get(at) ?? false) || (at > from && at <= until))
  }
  return [...certain].map(([at, isCertain]) => ({ at, isCertain })).sort((a, b) => a.at - b.at)
}

/** How many runs it had made when it was edited, with those that the edit itself made up for. */
function firedBy(ledger: readonly FireRow[], toUs: number): number {
  const byUs = toUs + EDIT_SLACK_MS * 1_000
  return ledger.filter(({ outcome, decidedAtUs }) => outcome === "fired" && decidedAtUs <= byUs).length
}

function complaintsAboutMissing(missing: readonly number[]): string[] {
  const [first] = missing
  if (first === undefined) return []
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ""
  return [`has come further than ${iso(first)}${more}, and nothing says what became of it.`]
}

function complaintsAboutStretch(row: FireRow, covered: readonly Expected[]): string[] {
  const [first, last] = [row.occurrenceUs / 1_000, row.lastUs / 1_000]
  if (covered[0]?.at !== first || covered.at(-1)?.at !== last) {
    const wrong = covered[0]?.at === first ? last : first
    return [`has decided about ${iso(wrong)} (${row.outcome}), which is none of its times.`]
  }
  const least = covered.filter(({ isCertain }) => isCertain).length
  if (row.count >= least && row.count <= covered.length) return []
  const counted = `${row.outcome} ${row.count} from ${iso(first)} to ${iso(last)}`
  return [`has ${counted}, where there are ${covered.length}.`]
}

/** What each policy never does. The policy of an edited schedule is unknown. */
function complaintsAboutPolicy(
  schedule: ScheduleRow,
  audit: readonly AuditRow[],
  ledger: readonly FireRow[],
): string[] {
  if (schedule.version !== 1) return []
  const never = neverFor(schedule)
  const known = new Set(ledger.map(({ occurrenceUs }) => occurrenceUs))
  const isPunctual =
    durationOf(schedule.spec["jitter"] ?? 0) === 0 && durationOf(schedule.spec["spread"] ?? 0) === 0
  return ledger.flatMap((row) => {
    const at = iso(row.occurrenceUs / 1_000)
    return [
      ...sayIf(
        row.reason === "latest" && never.has("latest") && !isOfResumption(row, audit),
        () => `makes a run for each occurrence, and has let another stand for ${at}.`,
      ),
      ...sayIf(
        row.reason === "misfire" && never.has("misfire"),
        () => `finds nothing too late, and has left out ${at} for that.`,
      ),
      ...sayIf(
        row.reason === "limit" && never.has("limit"),
        () => `has no bound to what it makes up for, and has left out ${at} for that.`,
      ),
      ...sayIf(
        row.reason === "overlap" && overlapOf(schedule) === "allow",
        () => `lets its runs overlap, and has made none of ${at} because of another.`,
      ),
      ...sayIf(
        row.reason === "overlap" &&
          overlapOf(schedule) === "queue" &&
          !("onNewOccurrence" in schedule.settings),
        () => `lets its runs wait for each other, and has made none of ${at} because of another.`,
      ),
      ...sayIf(
        row.reason === "latest" && !(row.intoUs !== null && row.intoUs > row.lastUs && known.has(row.intoUs)),
        () => `has let another occurrence stand for ${at}, and nothing says what became of that.`,
      ),
      ...sayIf(
        isPunctual && row.dueAtUs !== null && row.dueAtUs !== row.occurrenceUs,
        () => `delays nothing, and has made ${at} due at ${iso((row.dueAtUs ?? 0) / 1_000)}.`,
      ),
    ]
  })
}

/** A schedule that counts from the end of its last run misses nothing. */
function complaintsAboutMissed(
  schedule: ScheduleRow,
  audit: readonly AuditRow[],
  ledger: readonly FireRow[],
): string[] {
  const misfire = misfireOf(schedule)
  if (schedule.version !== 1 || !misfire || "afterCompletion" in schedule.spec || hasBackfill(audit))
    return []
  const own = ledger.filter((row) => !isRequested(row) && !isOfResumption(row, audit))
  return complaintsAboutMisfires(misfire, own)
}

/** The reasons for which it never makes a run of a missed occurrence. */
function neverFor(schedule: ScheduleRow): ReadonlySet<string> {
  const misfire = misfireOf(schedule)
  if (!misfire) return new Set()
  const isBounded = misfire.within !== undefined || misfire.max !== undefined
  if (misfire.mode === "all") return new Set(["latest", "misfire", ...(isBounded ? [] : ["limit"])])
  return new Set(["limit", ...(isBounded ? [] : ["misfire"])])
}

/**
 * A resume may make up for the newest, or all, occurrences of the whole pause. That is decided before the audit row
 * of the resume, and nothing else is decided during the pause.
 */
function isOfResumption({ decidedAtUs }: FireRow, audit: readonly AuditRow[]): boolean {
  const slackUs = EDIT_SLACK_MS * 1_000
  const isPaused = pausesOf(audit, Number.POSITIVE_INFINITY).some(
    ({ fromUs, toUs }) => decidedAtUs >= fromUs && decidedAtUs <= toUs,
  )
  return (
    isPaused ||
    audit.some(({ action, atUs }) => action === "schedule.resume" && Math.abs(atUs - decidedAtUs) <= slackUs)
  )
}

/** Whether each fired occurrence of the ledger has its run, and only its run. */
function complaintsAboutRun(fire: FireRow, run: RunFacts | undefined): string[] {
  if (fire.run === null) return []
  const at = iso(fire.occurrenceUs / 1_000)
  const id = runOfOccurrence(fire.schedule, fire.occurrenceUs / 1_000, fire.generation)
  if (fire.run !== id) return [`has given ${at} the run ${fire.run}; it should have the id ${id}.`]
  if (!run || run.live.length + run.rows.length + run.deadLetters.length === 0) {
    return [`has fired at ${at}, and its run ${fire.run} is nowhere.`]
  }
  const [other] = [...run.live, ...run.rows].filter(
    ({ schedule, occurrenceUs }) => schedule !== fire.schedule || occurrenceUs !== fire.occurrenceUs,
  )
  return sayIf(
    other !== undefined,
    () => `has fired at ${at}, and its run ${fire.run} says that it stands for something else.`,
  )
}

/** A run of an occurrence that the ledger does not know. */
function complaintsAboutOrigin({ ledgers }: Facts, { run, live, rows, fires }: RunFacts): Complaint[] {
  const [made] = [...live, ...rows]
  if (!made?.schedule || made.occurrenceUs === null || fires.length > 0) return []
  const { schedule, occurrenceUs } = made
  const known = (ledgers.get(schedule) ?? []).some((fire) => fire.occurrenceUs === occurrenceUs)
  const instead = known ? "has another one for that" : "does not know that occurrence"
  const says = `Run ${run} stands for ${iso(occurrenceUs / 1_000)} of schedule ${schedule}, and the ledger ${instead}.`
  return [{ subject: run, says }]
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
