/** Holds the tables after a story against the oracle's result for every occurrence. */
import { accountOf, type Entry } from "../oracle/account.ts"
import type { Facts, FireFact, RunFact } from "./facts.ts"
import type { Story, StorySchedule } from "./story.ts"
import type { Announced, Telling } from "./world.ts"

/** One schedule, in lines to compare and read. */
export interface Report {
  readonly schedule: string
  readonly occurrences: readonly string[]
  readonly runs: readonly string[]
  readonly state: string
  /** For a schedule whose cursor was wrong, repeated counts are left out. */
  readonly fired: number | "more than once"
  readonly next: string
}

export interface Verdict {
  readonly expected: readonly Report[]
  readonly actual: readonly Report[]
  /** What is wrong by itself: ids that are not unique, delays out of bounds. */
  readonly faults: readonly string[]
}

export function judge(story: Story, telling: Telling): Verdict {
  const faults: string[] = []
  const reports = story.schedules.map((schedule) => {
    const facts = factsOf(schedule.name, telling.facts)
    const dues = duesOf(story, schedule, facts, telling.announced, faults)
    return [expectedOf(story, schedule, telling, dues), actualOf(story, schedule, facts, faults)] as const
  })
  const ids = telling.facts.runs.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) faults.push("two runs have the same id")
  return { expected: reports.map(([own]) => own), actual: reports.map(([, own]) => own), faults }
}

interface OwnFacts {
  readonly row: Facts["schedules"][number]
  readonly fires: readonly FireFact[]
  readonly runs: readonly RunFact[]
}

function factsOf(name: string, { schedules, fires, runs }: Facts): OwnFacts {
  const row = schedules.find((each) => each.name === name)
  if (!row) throw new Error(`schedule ${name} is gone`)
  return {
    row,
    fires: fires.filter(({ schedule }) => schedule === row.id),
    runs: runs.filter(({ schedule }) => schedule === row.id),
  }
}

/**
 * When its occurrences are due. The length of each delay is random; the test checks that it never changes, stays in
 * bounds, and that every process kept to it.
 */
function duesOf(
  { kind }: Story,
  schedule: StorySchedule,
  { fires }: OwnFacts,
  announced: readonly Announced[],
  faults: string[],
): (occurrence: number) => number {
  const { name, jitterMs, occurrences } = schedule
  const dues = new Map<number, number>()
  const said = [
    // A schedule that waits for its runs to finish is looked at again, which says nothing about its due time.
    ...announced.filter((each) => each.name === name && kind !== "crowded"),
    ...fires.flatMap(({ first, due }) => (due === null ? [] : [{ occurrence: first, due }])),
  ]
  for (const { occurrence, due } of said) {
    const following = occurrences[occurrences.indexOf(occurrence) + 1] ?? Number.POSITIVE_INFINITY
    const latest = Math.min(occurrence + jitterMs, following - 1)
    if (due < occurrence || due > latest) faults.push(`${name}: ${iso(occurrence)} is due at ${iso(due)}`)
    const other = dues.get(occurrence)
    if (other !== undefined && other !== due) faults.push(`${name}: ${iso(occurrence)} is due at two times`)
    dues.set(occurrence, due)
  }
  // An occurrence that was never announced and has no run was passed over for a later one, which was due.
  return (occurrence) => dues.get(occurrence) ?? occurrence
}

function expectedOf(
  story: Story,
  schedule: StorySchedule,
  { happenings }: Telling,
  dueOf: (occurrence: number) => number,
): Report {
  const told = { ...schedule, isOnce: "once" in schedule.when, dueOf }
  const { entries, state, fired, next } = accountOf(told, happenings.get(schedule.name) ?? [])
  const inOrder = [...entries].sort((a, b) => a.first - b.first)
  return {
    schedule: schedule.name,
    occurrences: inOrder.map(entryLine),
    runs: inOrder
      .filter(({ outcome }) => outcome === "fired")
      .map((entry) => runLine(entry.first, entry.missed)),
    state,
    fired: wasSetBack(story, schedule) ? "more than once" : fired,
    next: iso(next),
  }
}

function actualOf(story: Story, schedule: StorySchedule, own: OwnFacts, faults: string[]): Report {
  const { row, fires, runs } = own
  const inOrder = [...runs].sort((a, b) => a.occurrence - b.occurrence)
  for (const fire of fires.filter(({ outcome }) => outcome === "fired")) {
    const made = runs.filter(({ id }) => id === fire.run)
    if (made.length !== 1 || made[0]?.occurrence !== fire.first || made[0]?.due !== fire.due)
      faults.push(`${schedule.name}: ${iso(fire.first)} has ${made.length} runs, or one of something else`)
  }
  return {
    schedule: schedule.name,
    occurrences: fires.map((fire) =>
      entryLine({
        ...(fire as FireFact & Pick<Entry, "outcome">),
        reason: fire.reason ?? undefined,
        into: fire.into ?? undefined,
        decidedAt: fire.decided,
      }),
    ),
    runs: inOrder.map(({ occurrence, missed }) => runLine(occurrence, missed ?? undefined)),
    state: row.state,
    fired: wasSetBack(story, schedule) ? "more than once" : row.fired,
    next: iso(row.next ?? undefined),
  }
}

function wasSetBack({ steps }: Story, { name }: StorySchedule): boolean {
  return steps.some(({ acts }) => acts.some((act) => act.what === "set back" && act.name === name))
}

function entryLine(entry: Omit<Entry, "missed">): string {
  const { first, last, count, outcome, reason, into, decidedAt } = entry
  const which = count === 1 && first === last ? iso(first) : `${iso(first)} to ${iso(last)}, ${count}`
  const why = [reason && `for ${reason}`, into !== undefined && `into ${iso(into)}`].filter(Boolean)
  return [which, outcome, ...why, `at ${iso(decidedAt)}`].join(" ")
}

function runLine(
  occurrence: number,
  missed:
    | { readonly count: number; readonly first: number | string; readonly last: number | string }
    | undefined,
): string {
  if (!missed) return iso(occurrence)
  return `${iso(occurrence)} for ${missed.count} more from ${iso(missed.first)} to ${iso(missed.last)}`
}

function iso(at: number | string | undefined): string {
  return at === undefined ? "none" : new Date(at).toISOString()
}
