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
  LiveState,
  Outcome,
} from "../../support/history/final-read.ts"

export interface ModelRun {
  readonly run: string
  readonly allowed: number
  readonly mayExpire: boolean
  readonly generation: number
  readonly state: LiveState
  readonly attempt: number
  readonly suspect: boolean
  /** Its start is written down. */
  readonly started: boolean
  readonly cancelling: boolean
  readonly lease: string | null
  readonly claim: string | null
  readonly cause: string | null
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
  const deadLetters = new Map<string, DeadLetter & NewRun>()
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
    attempts.push({
      run: run.run,
      claim: run.claim,
      attempt: run.attempt + 1,
      generation: run.generation,
      ...how,
      runState: isOver ? (next as FinalState) : null,
      lease: run.lease,
      finishedAtUs: nowUs(),
      cause: run.cause,
    })
    runs.delete(run.run)
    if (next === "dead") deadLetters.set(run.run, { ...run, attempts: attempt })
    if (isOver) return
    const cause = how.outcome === "timed_out" ? "failed" : how.outcome
    const suspect = run.suspect || how.outcome === "lost"
    const back = { state: next as LiveState, lease: null, claim: null, started: false }
    runs.set(run.run, { ...run, ...back, attempt, suspect, cause })
  }

  return {
    runs: (state?: LiveState) =>
      [...runs.values()].filter((run) => state === undefined || run.state === state),
    dead: () => [...deadLetters.keys()],
    /** Whether the run was new: also one that is finished is known. */
    insert: (run: NewRun): boolean => {
      if (runs.has(run.run) || attempts.some((row) => row.run === run.run)) return false
      const fresh = { attempt: 0, suspect: false, started: false, cancelling: false }
      runs.set(run.run, {
        ...run,
        ...fresh,
        generation: 1,
        state: "ready",
        lease: null,
        claim: null,
        cause: null,
      })
      return true
    },
    openLease: (lease: string) => workers.set(lease, false),
    claim: (lease: string, limit: number): ModelRun[] => {
      if (workers.get(lease) !== false) return []
      claims += 1
      const claim = String(-7_000_000_000_000_000_000n + BigInt(claims))
      const taken = [...runs.values()].filter(({ state }) => state === "ready").slice(0, limit)
      return taken.map((run) => {
        const mine: ModelRun = { ...run, state: "running", lease, claim }
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
      audit.push({ action: "run.cancel", run: run.run })
      if (run.state === "running") runs.set(run.run, { ...run, cancelling: true })
      else leave(run, { outcome: "cancelled", charged: false, startedAtUs: null }, "cancelled")
    },
    replay: (dead: string): void => {
      const letter = deadLetters.get(dead)
      if (!letter) return
      const { run, allowed, mayExpire, generation } = letter
      deadLetters.delete(dead)
      audit.push({ action: "run.replay", run })
      runs.set(run, { ...FRESH, run, allowed, mayExpire, generation: generation + 1, cause: "replayed" })
    },
    discard: (run: string): void => {
      deadLetters.delete(run)
      audit.push({ action: "run.discard", run })
    },
    read: (): FinalRead => ({
      runs: [...runs.values()],
      attempts: [...attempts],
      deadLetters: [...deadLetters.values()],
      audit: [...audit],
      workers: [...workers].map(([lease, dead]) => ({ lease, dead })),
    }),
  }
}

const FRESH = {
  state: "ready",
  attempt: 0,
  suspect: false,
  started: false,
  cancelling: false,
  lease: null,
  claim: null,
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
