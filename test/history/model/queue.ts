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
  FinishRow,
  LiveRun,
  LiveState,
  Outcome,
} from "../../support/history/final-read.ts"

export interface ModelRun extends LiveRun {
  readonly allowed: number
  readonly mayExpire: boolean
  readonly limits: NewRun["limits"]
  readonly retryMs: number
  readonly suspect: boolean
  /** Its start is written down. */
  readonly started: boolean
  readonly cancelling: boolean
  readonly remembered: boolean
  /** When it became ready. */
  readonly rankUs: number
}

export interface NewRun {
  readonly run: string
  readonly allowed: number
  readonly mayExpire: boolean
  readonly job: string
  readonly priority: number
  readonly key: string | null
  /** Whether its dead letter holds the key, and what has ended, too. */
  readonly remembered: boolean
  /** How long it waits before its first attempt. */
  readonly delayMs: number
  readonly retryMs: number
  readonly limits: readonly { readonly key: string; readonly cap: number }[]
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

/** The job whose handlers finish in transactions of their own. */
export const BOOKING = "book"

export function createQueue(nowUs: () => number) {
  const runs = new Map<string, ModelRun>()
  const attempts: AttemptRow[] = []
  const deadLetters = new Map<string, DeadLetter & ModelRun>()
  const audit: AuditRow[] = []
  const workers = new Map<string, boolean>()
  const finishes: FinishRow[] = []
  const made = new Set<string>()
  /** Who holds each key that is remembered. */
  const remembered = new Map<string, ModelRun>()
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
    const finishedAtUs = nowUs()
    attempts.push({
      ...{ run: run.run, job, claim, generation, lease, enqueuedAtUs, dueAtUs, cause: causeBefore },
      attempt: run.attempt + 1,
      pool: "default",
      ...how,
      runState: isOver ? (next as FinalState) : null,
      finishedAtUs,
      schedule: run.schedule,
      occurrenceUs: run.occurrenceUs,
    })
    runs.delete(run.run)
    if (next === "dead") deadLetters.set(run.run, { ...run, attempts: attempt })
    if (isOver) return
    const cause = how.outcome === "timed_out" ? "failed" : how.outcome
    const suspect = run.suspect || how.outcome === "lost"
    const back = { state: next as LiveState, lease: null, claim: null, started: false, rankUs: finishedAtUs }
    const due = next === "waiting" ? { dueAtUs: finishedAtUs + run.retryMs * 1_000 } : {}
    runs.set(run.run, { ...run, ...back, ...due, attempt, suspect, cause })
  }

  /** Of the key of a run: none while it lives or is a dead letter. */
  function expiryOf(run: string): number | null {
    const isOver = !runs.has(run) && !deadLetters.has(run)
    const endedAtUs = attempts.findLast((row) => row.run === run)?.finishedAtUs ?? 0
    return isOver ? endedAtUs + REMEMBERED_US : null
  }

  function recordAudit(action: string, run: string): void {
    audit.push({ action, atUs: nowUs(), run, schedule: null, before: null })
  }

  function hasRoom({ limits }: ModelRun): boolean {
    const running = [...runs.values()].filter(({ state }) => state === "running")
    return limits.every(
      ({ key, cap }) => running.filter((run) => run.limits.some((limit) => limit.key === key)).length < cap,
    )
  }

  return {
    runs: (state?: LiveState) =>
      [...runs.values()].filter((run) => state === undefined || run.state === state),
    dead: () => [...deadLetters.keys()],
    attempts: (): readonly AttemptRow[] => attempts,
    recordOther: (row: AuditRow) => audit.push(row),
    /** The run, or the one that has its key; and whether it was new: also one that is finished is known. */
    insert: (run: NewRun, origin: Partial<ModelRun> = {}): { run: string; created: boolean } => {
      const holder =
        remembered.get(String(run.key)) ??
        [...runs.values()].find((other) => run.key !== null && other.key === run.key)
      if (made.has(run.run)) return { run: run.run, created: false }
      if (holder) return { run: holder.run, created: false }
      const at = nowUs()
      const { delayMs, ...asked } = run
      const dueAtUs = at + delayMs * 1_000
      const state = delayMs > 0 ? "waiting" : "ready"
      const fresh = {
        generation: 1,
        cause: null,
        state,
        enqueuedAtUs: at,
        dueAtUs,
        rankUs: at,
        claims: 0,
      } as const
      const live = { ...FRESH, ...asked, ...fresh, ...origin }
      runs.set(run.run, live)
      if (run.remembered) remembered.set(String(run.key), live)
      made.add(run.run)
      return { run: run.run, created: true }
    },
    openLease: (lease: string) => workers.set(lease, false),
    /** The highest priority first, then the one that was ready first; no more than limits allow. */
    claim: (lease: string, limit: number): ModelRun[] => {
      if (workers.get(lease) !== false) return []
      claims += 1
      const claim = String(-7_000_000_000_000_000_000n + BigInt(claims))
      const ready = [...runs.values()].filter(({ state }) => state === "ready")
      const inOrder = ready.sort((a, b) => b.priority - a.priority || a.rankUs - b.rankUs)
      const taken: ModelRun[] = []
      for (const run of inOrder) {
        if (taken.length >= limit || !hasRoom(run)) continue
        const mine: ModelRun = { ...run, state: "running", lease, claim, claims: run.claims + 1 }
        runs.set(run.run, mine)
        taken.push(mine)
      }
      return taken
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
      if (runState === "succeeded" && run.job === BOOKING) finishes.push({ run: run.run, claim: end.claim })
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
    /** Makes ready what is due. */
    promote: (): void => {
      const at = nowUs()
      for (const run of runs.values())
        if (run.state === "waiting" && run.dueAtUs <= at)
          runs.set(run.run, { ...run, state: "ready", rankUs: at })
    },
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
      const at = nowUs()
      const { schedule, occurrenceUs, generation } = run
      const key = run.remembered ? run.key : null
      const again = { schedule, occurrenceUs, generation: generation + 1, cause: "replayed", key }
      runs.set(dead, { ...run, ...FRESH, ...again, enqueuedAtUs: at, dueAtUs: at, rankUs: at })
    },
    discard: (run: string): void => {
      deadLetters.delete(run)
      recordAudit("run.discard", run)
    },
    /** How many runs are in each state, and how many were ever made. */
    count: () => {
      const states: Record<string, number> = {}
      const ends = new Map(
        attempts.flatMap(({ run, runState }) => (runState ? [[run, runState] as const] : [])),
      )
      for (const run of made) {
        const state = runs.get(run)?.state ?? ends.get(run) ?? "nowhere"
        states[state] = (states[state] ?? 0) + 1
      }
      return { states, enqueued: made.size }
    },
    read: (): Omit<FinalRead, "schedules" | "fires" | "marks"> => ({
      nowUs: nowUs(),
      runs: [...runs.values()],
      attempts: [...attempts],
      deadLetters: [...deadLetters.values()],
      audit: [...audit],
      workers: [...workers].map(([lease, dead]) => ({ lease, dead })),
      keys: [...runs.values(), ...[...remembered.values()].filter(({ run }) => !runs.has(run))].flatMap(
        ({ run, tenant, job, key }) =>
          key === null ? [] : [{ tenant, job, key, run, expiresAtUs: expiryOf(run) }],
      ),
      limits: [],
      runLimits: [],
      finishes: [...finishes],
    }),
  }
}

const REMEMBERED_US = 8 * 86_400_000_000

const FRESH = {
  tenant: "",
  state: "ready",
  parkedFor: null,
  attempt: 0,
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
