/**
 * The right result for every occurrence of a schedule, from the list of its occurrences and of the events: looks of
 * schedulers, ends of runs, pauses. Does not depend on which scheduler looked, because that must not matter. Shares
 * nothing with `src`.
 */

export interface Told {
  /** Every occurrence after its creation, in order, beyond the end of the story. */
  readonly occurrences: readonly number[]
  readonly misfire: "latest" | "skip" | "all"
  readonly overlap: "allow" | "skip" | "queue"
  readonly maxRuns: number | undefined
  readonly maxQueued: number
  /** It has one occurrence, and then it is over. */
  readonly isOnce: boolean
  readonly dueOf: (occurrence: number) => number
}

export type Happening =
  /** All schedulers looked until nothing was left to do. */
  | { readonly what: "tick"; readonly at: number }
  /** Every run that there was has finished. */
  | { readonly what: "settle" }
  | { readonly what: "pause"; readonly at: number; readonly until: number | undefined }
  | { readonly what: "resume"; readonly at: number }

/** An occurrence that made a run, or a stretch of occurrences without one. */
export interface Entry {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly outcome: "fired" | "coalesced" | "skipped"
  readonly reason: string | undefined
  readonly into: number | undefined
  readonly decidedAt: number
  /** For `fired`: the stretch that it makes up for. */
  readonly missed: Stretch | undefined
}

interface Stretch {
  readonly count: number
  readonly first: number
  readonly last: number
}

export interface Account {
  readonly entries: readonly Entry[]
  readonly state: "active" | "paused" | "completed" | "missed"
  readonly fired: number
  /** The first undecided occurrence of an active schedule. */
  readonly next: number | undefined
}

/** `skip` forgives this much. */
const FORGIVEN_MS = 60_000

export function accountOf(told: Told, happenings: readonly Happening[]): Account {
  const { occurrences, misfire, overlap, maxRuns = Number.POSITIVE_INFINITY, maxQueued } = told
  const entries: Entry[] = []
  let state: Account["state"] = "active"
  let pause: { readonly at: number; readonly until: number } | undefined
  let decided = 0
  let live = 0
  let fired = 0

  /** The last of these stands for the others. */
  function coalesce(count: number, decidedAt: number): Stretch | undefined {
    if (count === 1) return undefined
    const into = occurrences[decided + count - 1] as number
    const missed = stretch(count - 1)
    entries.push({ ...missed, outcome: "coalesced", reason: "latest", into, decidedAt, missed: undefined })
    decided += count - 1
    return missed
  }

  function fire(count: number, decidedAt: number): void {
    const missed = coalesce(count, decidedAt)
    entries.push({ ...stretch(1), outcome: "fired", reason: undefined, into: undefined, decidedAt, missed })
    decided += 1
    live += 1
    fired += 1
  }

  function skip(count: number, reason: string, decidedAt: number): void {
    if (count === 0) return
    const passed = stretch(count)
    entries.push({ ...passed, outcome: "skipped", reason, into: undefined, decidedAt, missed: undefined })
    decided += count
  }

  /** The next `count` undecided occurrences. */
  function stretch(count: number): Stretch {
    return {
      count,
      first: occurrences[decided] as number,
      last: occurrences[decided + count - 1] as number,
    }
  }

  /** How many undecided occurrences come before the first for which this does not hold. */
  function countWhile(holds: (occurrence: number) => boolean): number {
    let count = 0
    while (decided + count < occurrences.length && holds(occurrences[decided + count] as number)) count += 1
    return count
  }

  /** By the policy, for occurrences that are due and planned before `end`. */
  function decide(at: number, end: number): void {
    const due = countWhile((occurrence) => occurrence < end && told.dueOf(occurrence) <= at)
    if (due === 0) return
    if (misfire === "all") {
      for (let left = due; left > 0 && live < maxQueued && fired < maxRuns; left -= 1) fire(1, at)
      return
    }
    const lateMs = at - told.dueOf(occurrences[decided + due - 1] as number)
    if (misfire === "skip" && lateMs > FORGIVEN_MS) {
      skip(due, "misfire", at)
      if (told.isOnce) state = "missed"
    } else if (overlap === "skip" && live > 0) {
      coalesce(due, at)
      skip(1, "overlap", at)
    } else if (overlap !== "queue" || live < maxQueued) fire(due, at)
  }

  function resume(at: number): void {
    if (!pause) return
    decide(at, pause.at)
    skip(
      countWhile((occurrence) => occurrence <= at),
      "paused",
      at,
    )
    pause = undefined
    state = "active"
  }

  for (const happening of happenings) {
    if (happening.what === "settle") live = 0
    else if (happening.what === "resume") resume(happening.at)
    else if (happening.what === "pause") {
      pause = { at: happening.at, until: happening.until ?? Number.POSITIVE_INFINITY }
      state = "paused"
    } else {
      if (pause && happening.at >= pause.until) resume(happening.at)
      if (state === "active") decide(happening.at, Number.POSITIVE_INFINITY)
      if (state === "active" && (fired >= maxRuns || decided === occurrences.length)) state = "completed"
    }
  }
  return { entries, state, fired, next: state === "active" ? occurrences[decided] : undefined }
}
