/**
 * I14: never more runs execute than a limit allows, at any instant of the database's time.
 *
 * A run executes from its start until the database records the end of that attempt, by its own worker or by the
 * reaper; a lost worker may not have recorded the start, but its line does. The runs of a schedule without overlap
 * execute one at a time, and a run that waits for its retry is not finished.
 *
 * A handler may go on after the row of its attempt. So handlers are counted as well, from their begin until they
 * return or their process is gone, by the clock that all processes share. A handler whose lease is over does not
 * count: its run belongs to another worker.
 */
import { entriesOf, type Facts, generationsOf, groupBy, type RunFacts, SETTLED_BY_WORKER } from "./facts.ts"
import type { ScheduleRow } from "./final-read.ts"
import { type Complaint, type Judgement, judgement } from "./judgement.ts"
import { auditOf } from "./schedule-life.ts"
import { overlapOf } from "./schedule-times.ts"

/** Workers report starts as "so many milliseconds ago", rounded. */
const GRAIN_US = 1_000

interface Span {
  readonly run: string
  readonly fromUs: number
  readonly toUs: number
}

export function limitsHold(facts: Facts): Judgement {
  const caps = capsOf(facts)
  const spans = new Map<string, Span[]>()
  for (const run of facts.runs) {
    for (const { key } of run.asked.limits ?? []) add(spans, key, attemptSpans(facts, run))
  }
  for (const schedule of facts.read.schedules.filter(isAlone)) {
    caps.set(schedule.id, 1)
    add(spans, schedule.id, scheduleSpans(facts, schedule))
  }
  const all = [...spans]
  const handlers = handlersOf(facts)
  return judgement(
    "I14",
    all.reduce((sum, [, { length }]) => sum + length, 0),
    [
      ...all.flatMap(([key, of]) => complaintsAbout(key, caps.get(key) ?? 1, of, atInstant)),
      ...[...handlers].flatMap(([key, of]) => complaintsAbout(key, caps.get(key) ?? 1, of, inHandlers)),
    ],
  )
}

/** The handlers of runs under each limit. */
function handlersOf({ runs, history }: Facts): Map<string, Span[]> {
  const lastWords = new Map(history.map(({ pid, ns }) => [pid, ns]))
  const handlers = new Map<string, Span[]>()
  for (const run of runs) {
    for (const { key } of run.asked.limits ?? []) add(handlers, key, handlerSpans(run, lastWords))
  }
  return handlers
}

/** Of attempts that their own workers recorded: all others ended with their lease. */
function handlerSpans({ run, rows, entries }: RunFacts, lastWords: ReadonlyMap<number, bigint>): Span[] {
  const ends = new Map(entriesOf(entries, "end").map(({ claim, ns }) => [claim, ns]))
  const own = new Set(
    rows
      .filter(({ outcome }) => SETTLED_BY_WORKER.has(outcome) || outcome === "cancelled")
      .map(({ claim }) => claim),
  )
  return entriesOf(entries, "effect").flatMap(({ claim, ns, pid }) => {
    if (claim === undefined || !own.has(claim)) return []
    const endNs = ends.get(claim) ?? lastWords.get(pid) ?? ns
    return [{ run, fromUs: Number(ns) / 1_000, toUs: Number(endNs) / 1_000 }]
  })
}

const atInstant = (us: number) => `at ${new Date(us / 1_000).toISOString()} there were`
const inHandlers = () => "of their handlers there were"

/** The largest cap that a limit ever had: the moment of a change is not known well enough. */
function capsOf({ runs, history }: Facts): Map<string, number> {
  const caps = new Map<string, number>()
  const declared = [...entriesOf(history, "limit"), ...runs.flatMap(({ asked }) => asked.limits ?? [])]
  for (const { key, cap } of declared) caps.set(key, Math.max(cap, caps.get(key) ?? 0))
  return caps
}

/** The runs of an edited schedule may have been made under either policy. */
function isAlone(schedule: ScheduleRow): boolean {
  return schedule.version === 1 && overlapOf(schedule) !== "allow" && !("overlapKey" in schedule.settings)
}

function attemptSpans({ databaseTime }: Facts, run: RunFacts, rows = run.rows): Span[] {
  const starts = new Map(entriesOf(run.entries, "start").map(({ claim, ns }) => [claim, ns]))
  return rows.flatMap(({ claim, startedAtUs, finishedAtUs }) => {
    const ns = claim === null ? undefined : starts.get(claim)
    const fromUs = startedAtUs ?? (ns === undefined ? undefined : databaseTime.ofNs(ns))
    return fromUs === undefined ? [] : [{ run: run.run, fromUs, toUs: finishedAtUs - GRAIN_US }]
  })
}

/** From the first start of a run to its end. Runs by hand or by a backfill are not in the line. */
function scheduleSpans(facts: Facts, schedule: ScheduleRow): Span[] {
  // A backfill has a line of its own, and its occurrences look like others where they had not been decided before.
  if (
    auditOf(facts.read)
      .get(schedule.id)
      ?.some(({ action }) => action === "schedule.backfill")
  )
    return []
  const isHeld = ["skip", "queue"].includes(overlapOf(schedule)) && !("onNewOccurrence" in schedule.settings)
  const fires = (facts.ledgers.get(schedule.id) ?? []).filter(({ generation }) => generation === 1)
  return fires.flatMap(({ run: id }) => {
    const run = id === null ? undefined : facts.byRun.get(id)
    if (!run) return []
    if (!isHeld) return attemptSpans(facts, run)
    return generationsOf(run).flatMap(({ rows, live }) => {
      const spans = attemptSpans(facts, run, rows)
      if (spans.length === 0) return []
      const fromUs = Math.min(...spans.map((span) => span.fromUs))
      const toUs = live.length > 0 ? facts.read.nowUs : Math.max(...spans.map((span) => span.toUs))
      return [{ run: run.run, fromUs, toUs }]
    })
  })
}

function add(spans: Map<string, Span[]>, key: string, more: readonly Span[]): void {
  const known = spans.get(key)
  if (known) known.push(...more)
  else spans.set(key, [...more])
}

/** Goes through all begins and ends in order; complains once for each key. */
function complaintsAbout(
  key: string,
  cap: number,
  spans: readonly Span[],
  when: (us: number) => string,
): Complaint[] {
  const changes = spans
    .filter(({ fromUs, toUs }) => fromUs < toUs)
    .flatMap((span) => [
      { atUs: span.fromUs, span, begins: true },
      { atUs: span.toUs, span, begins: false },
    ])
    .sort((a, b) => a.atUs - b.atUs || Number(a.begins) - Number(b.begins))
  const under = new Set<Span>()
  for (const { atUs, span, begins } of changes) {
    if (begins) under.add(span)
    else under.delete(span)
    if (under.size <= cap) continue
    const runs = [...groupBy([...under], ({ run }) => run).keys()].join(", ")
    return [
      { subject: key, says: `Limit ${key} allows ${cap} at once, and ${when(atUs)} ${under.size}: ${runs}.` },
    ]
  }
  return []
}
