/**
 * A queue as it should be, small enough to be seen through: what the database of a run of the model holds.
 *
 * Written from what the invariants say, not from the product, so that one can be wrong without the other.
 * Every change is one call, and the clock moves on with each.
 */
import type {
  AttemptRow,
  AuditRow,
  DeadLetter,
  FinalRead,
  FinalState,
  LiveRun,
  LiveState,
  Outcome,
} from "../../support/history/final-read.ts"

export interface ModelRun extends LiveRun {
  readonly allowed: number
  readonly mayExpire: boolean
  readonly suspect: boolean
  /** Its start is written down. */
  readonly started: boolean
  readonly cancelling: boolean
}

export interface NewRun {
  readonly run: string
  readonly allowed: number
  readonly mayExpire: boolean
}

/** How an attempt ended, as its worker presents it. */
export interface Settle {
  readonly run: string
  readonly lease: string
  readonly claim: string
  readonly outcome: Exclude<Outcome, "lost">
  readonly startedAtUs: number | null
}

export type Queue = ReturnType<typeof createQueue>

export function createQueue(nowUs: () => number) {
  const runs = new Map<string, ModelRun>()
  const attempts: AttemptRow[] = []
  const deadLetters = new Map<string, DeadLetter & ModelRun>()
  const audit: AuditRow[] = []
  const workers = new Map<string, boolean>()
  let claims = 0

  function held({ run, lease, claim }: Pick<Settle, "run" | "lease" | "claim">): ModelRun | undefined {
    const found = runs.get(run)
    return found?.lease === lease && found.claim === claim && workers.get(lease) === false ? found : undefined
  }

  /** Writes down how an attempt ended; the run ends, or goes back. */
  function leave(
    run: ModelRun,
    how: Pick<AttemptRow, "outcome" | "charged" | "startedAtUs">,
    next: string,
  ): void {
    const isOver = next !== "waiting" && next !== "ready"
    const attempt = run.attempt + (how.charged ? 1 : 0)
    const { job, claim, generation, lease, enqueuedAtUs, dueAtUs, cause: causeBefore } = run
    attempts.push({
      ...{ run: run.run, job, claim, generation, lease, enqueuedAtUs, dueAtUs, cause: causeBefore },
      attempt: run.attempt + 1,
      ...how,
      runState: isOver ? (next as FinalState) : null,
      finishedAtUs: nowUs(),
      schedule: run.schedule,
      occurrenceUs: run.occurrenceUs,
    })
    runs.delete(run.run)
    if (next === "dead") deadLetters.set(run.run, { ...run, attempts: attempt })
    if (isOver) return
    const cause = how.outcome === "timed_out" ? "failed" : how.outcome
    const suspect = run.suspect || how.outcome === "lost"
    const back = { state: next as LiveState, lease: null, claim: null, started: false }
    runs.set(run.run, { ...run, ...back, attempt, suspect, cause })
  }

  function recordAudit(action: string, run: string): void {
    audit.push({ action, atUs: nowUs(), run, schedule: null, before: null })
  }

  return {
    runs: (state?: LiveState) =>
      [...runs.values()].filter((run) => state === undefined || run.state === state),
    dead: () => [...deadLetters.keys()],
    /** Whether the run was new: also one that is finished is known. */
    insert: (run: NewRun): boolean => {
      if (runs.has(run.run) || attempts.some((row) => row.run === run.run)) return false
      const at = nowUs()
      runs.set(run.run, { ...FRESH, ...run, generation: 1, cause: null, enqueuedAtUs: at, dueAtUs: at })
      return true
    },
    openLease: (lease: string) => workers.set(lease, false),
    claim: (lease: string, limit: number): ModelRun[] => {
      if (workers.get(lease) !== false) return []
      claims += 1
      const claim = String(-7_000_000_000_000_000_000n + BigInt(claims))
      const taken = [...runs.values()].filter(({ state }) => state === "ready").slice(0, limit)
      return taken.map((run) => {
        const mine: ModelRun = { ...run, state: "running", lease, claim, claims: run.claims + 1 }
        runs.set(run.run, mine)
        return mine
      })
    },
    recordStart: (fence: Pick<Settle, "run" | "lease" | "claim">): boolean => {
      const run = held(fence)
      if (run) runs.set(run.run, { ...run, started: true })
      return run !== undefined
    },
    /** What was written, or nothing when the run was not this worker's. */
    settle: (end: Settle): { outcome: Outcome; runState: string } | undefined => {
      const run = held(end)
      if (!run) return undefined
      const outcome = run.cancelling ? "cancelled" : end.outcome
      const charged = ["succeeded", "failed", "timed_out"].includes(outcome) && end.startedAtUs !== null
      const isUsedUp = run.attempt + 1 >= run.allowed || end.startedAtUs === null
      const runState = NEXT[outcome](isUsedUp)
      leave(run, { outcome, charged, startedAtUs: end.startedAtUs }, runState)
      return { outcome, runState }
    },
    /** Takes a lease for dead and its runs back; how many. */
    reap: (lease: string): number => {
      workers.set(lease, true)
      const lost = [...runs.values()].filter((run) => run.lease === lease)
      for (const run of lost) {
        const how = { outcome: "lost", charged: run.started, startedAtUs: null } as const
        leave(run, how, run.cancelling ? "cancelled" : "ready")
      }
      return lost.length
    },
    promote: (run: ModelRun) => runs.set(run.run, { ...run, state: "ready" }),
    cancel: (run: ModelRun): void => {
      recordAudit("run.cancel", run.run)
      if (run.state === "running") runs.set(run.run, { ...run, cancelling: true })
      else leave(run, { outcome: "cancelled", charged: false, startedAtUs: null }, "cancelled")
    },
    replay: (dead: string): void => {
      const letter = deadLetters.get(dead)
      if (!letter) return
      const { attempts: _, ...run } = letter
      deadLetters.delete(dead)
      recordAudit("run.replay", dead)
      const again = {
        generation: run.generation + 1,
        claims: run.claims,
        cause: "replayed",
        dueAtUs: nowUs(),
      }
      runs.set(dead, { ...run, ...FRESH, ...again })
    },
    discard: (run: string): void => {
      deadLetters.delete(run)
      recordAudit("run.discard", run)
    },
    read: (): FinalRead => ({
      nowUs: nowUs(),
      runs: [...runs.values()],
      attempts: [...attempts],
      deadLetters: [...deadLetters.values()],
      audit: [...audit],
      workers: [...workers].map(([lease, dead]) => ({ lease, dead })),
      schedules: [],
      fires: [],
      keys: [],
      limits: [],
      runLimits: [],
      marks: null,
      finishes: null,
    }),
  }
}

const FRESH = {
  job: "work",
  tenant: "",
  state: "ready",
  parkedFor: null,
  priority: 0,
  key: null,
  attempt: 0,
  claims: 0,
  suspect: false,
  started: false,
  cancelling: false,
  lease: null,
  claim: null,
  schedule: null,
  occurrenceUs: null,
} as const

/** What becomes of a run after each outcome, when its attempts are used up and when not. */
const NEXT = {
  succeeded: () => "succeeded",
  failed: (isUsedUp: boolean) => (isUsedUp ? "dead" : "waiting"),
  timed_out: (isUsedUp: boolean) => (isUsedUp ? "dead" : "waiting"),
  snoozed: () => "waiting",
  released: () => "ready",
  cancelled: () => "cancelled",
  expired: () => "expired",
} as const satisfies Record<Settle["outcome"], (isUsedUp: boolean) => string>
