/**
 * The vocabulary of a history: what processes under test write down while they work, one line per operation.
 *
 * When a line is written is part of its meaning, because a process may be killed between any two of them. A request
 * is written before the call; an answer is written after it came. So a line says what certainly was sent or certainly
 * was answered, and the absence of a line says nothing. `info` is an answer too: the outcome is unknown.
 */
export type Operation =
  /** Before an enqueue is sent, with as much of its options as is known. */
  | ({ readonly op: "enq_invoke"; readonly run: string } & Asked)
  /** It was acknowledged: as a new run, or as the one that was there already under this id or key. */
  | { readonly op: "enq_ok"; readonly run: string; readonly created: boolean }
  /** It certainly changed nothing. */
  | { readonly op: "enq_fail"; readonly run: string; readonly code: string }
  /** It may have been written or not. */
  | { readonly op: "enq_info"; readonly run: string }
  /** Before a claim is sent. */
  | { readonly op: "claim_sent" }
  /** The answer to a claim named this run. */
  | ({ readonly op: "claim" } & ClaimFacts)
  /** Before the handler is called. */
  | ({ readonly op: "start" } & ClaimFacts)
  /** In the handler: an effect outside the database. */
  | {
      readonly op: "effect"
      readonly run: string
      readonly claim?: string
      readonly key?: string
      /** The fencing token. */
      readonly fence?: number
    }
  /** The handler has returned or thrown, before anything of that is written. */
  | ({ readonly op: "end"; readonly outcome: string } & Fence)
  /** The database has committed this end of the attempt. */
  | ({ readonly op: "settled"; readonly outcome: string; readonly runState: string } & Fence)
  /** This end may have been committed or not, and the process gave up asking. */
  | ({ readonly op: "settle_info" } & Fence)
  /** The run was not this worker's any more: its settle was refused. */
  | ({ readonly op: "fenced" } & Fence)
  /** The handler's signal has aborted. */
  | ({ readonly op: "abort"; readonly reason: string } & Fence)
  | { readonly op: "lease_open"; readonly lease: string }
  /** It goes on under another: others took this one for `dead`, or it gave it up for reasons of its own. */
  | { readonly op: "lease_lost"; readonly lease: string; readonly because: string }
  /** Runs of these leases were taken back, so many. */
  | { readonly op: "reaped"; readonly leases: readonly string[]; readonly runs: number }
  /** Before a cancellation is sent. */
  | { readonly op: "cancel_invoke"; readonly run: string }
  /** It changed something. `withinMs`: a running handler has to hear of it this soon. */
  | { readonly op: "cancel_ok"; readonly run: string; readonly withinMs?: number }
  /** This many runs under this key may execute at once, from now on. */
  | { readonly op: "limit"; readonly key: string; readonly cap: number }
  /** Before a caller's transaction that writes `mark` into its own table and enqueues the run. */
  | ({ readonly op: "tx_invoke" } & Marked)
  /** Its commit was acknowledged. */
  | ({ readonly op: "tx_ok" } & Marked)
  /** It was rolled back for certain. */
  | ({ readonly op: "tx_fail" } & Marked)
  /** It may have been committed or not. */
  | ({ readonly op: "tx_info" } & Marked)
  /** After the answer: the schedule of this name is there, in this version. */
  | { readonly op: "sched_put"; readonly schedule: string; readonly version: number }
  /** After the answer: it was paused, until an instant of the database if that was said. */
  | { readonly op: "sched_pause"; readonly schedule: string; readonly untilUs?: number }
  /** After the answer: it was resumed, and was to make up for the pause if that was said. */
  | { readonly op: "sched_resume"; readonly schedule: string }
  /** An observer has read the cursor of the schedule of this id. */
  | {
      readonly op: "cursor"
      readonly schedule: string
      readonly version: number
      readonly cursorUs: number
    }
  /**
   * Before this process is told to stop, and after it has done so. `graceMs`: if it can be held to what a stop
   * promises.
   */
  | { readonly op: "stop_invoke"; readonly graceMs?: number }
  | { readonly op: "stop_ok" }
  /** All faults have ended. `withinMs`: work younger than that may still be undone at the end. */
  | { readonly op: "healed"; readonly withinMs?: number }
  /** From here on nothing is broken and slots are free. `withinMs`: no run starts later than that. */
  | { readonly op: "quiet_from"; readonly withinMs?: number; readonly nowUs?: number }
  | { readonly op: "quiet_to"; readonly nowUs?: number }
  /** A reader of all runs got this one. */
  | { readonly op: "seen"; readonly run: string }
  /** A reader begins with the first page. A reader that does not say so begins when everything has ended. */
  | { readonly op: "reader_from" }
  /** It has read the last page. */
  | { readonly op: "reader_done" }
  /** It has given up before that. */
  | { readonly op: "reader_gone" }
  /** One snapshot: what a live run is, and its attempts so far. */
  | ({ readonly op: "standing"; readonly run: string } & Standing)
  /** One snapshot: how many runs are in each state, live and final, and how many were ever made. */
  | {
      readonly op: "count"
      readonly states: Readonly<Record<string, number>>
      readonly enqueued: number
    }
  /** One sample: how many sessions are open, how many there may be, and what they hold. */
  | {
      readonly op: "sessions"
      readonly open: number
      readonly idleInTransaction: number
      readonly advisoryLocks: number
      readonly most: number
      /** Every process was idle, for long enough to have released everything. */
      readonly isAtRest?: true
    }
  /**
   * A table with many inserts and deletes, vacuumed when every process was idle: so many dead rows could not be
   * removed.
   */
  | { readonly op: "vacuumed"; readonly table: string; readonly dead: number }
  /** The database's clock was set, forward or back. */
  | { readonly op: "clock_set"; readonly us: number }
  /** The clock of this process is wrong by so much. */
  | { readonly op: "clock_off"; readonly ms: number }

/** The options of an enqueue. A promise is judged for the runs of which enough is known. */
export interface Asked {
  readonly job?: string
  /** Held while the run lives. */
  readonly key?: string
  /** The key is remembered after the end of the run, too, and by its dead letter. */
  readonly remembered?: true
  /** How many attempts the run may use. */
  readonly attempts?: number
  /** It must start in time. */
  readonly mayExpire?: boolean
  readonly priority?: number
  /** Not to be started before so much time has gone by on the database's clock. */
  readonly delayMs?: number
  readonly limits?: readonly { readonly key: string; readonly cap: number }[]
  readonly timeoutMs?: number
  /** Its handler writes a row in the transaction that completes the run, and so does every other of its job. */
  readonly finishes?: true
  readonly retry?: RetryAsked
}

/** How long a run waits after a failure: always the same, by a list, or drawn from a range that grows. */
export type RetryAsked =
  | { readonly delayMs: number }
  | { readonly delaysMs: readonly number[] }
  | { readonly baseMs: number; readonly factor: number; readonly capMs: number }

/** What is stored about a live run, and what its history says. */
export interface Standing {
  readonly state: string
  readonly generation: number
  readonly attempt: number
  readonly claims: number
  /** Missing if it is not there. */
  readonly cause?: string
  /** The first to end first. */
  readonly rows: readonly {
    readonly generation: number
    readonly claim: string | null
    readonly outcome: string
    readonly charged: boolean
    readonly runState: string | null
  }[]
}

export interface Marked {
  readonly run: string
  readonly mark: string
}

/**
 * What a worker presents when it writes about a run; the claim in digits, because it has more than a number can hold.
 */
export interface Fence {
  readonly run: string
  readonly claim: string
}

export interface ClaimFacts extends Fence {
  /** The number of the attempt, as its handler sees it. */
  readonly attempt: number
  readonly lease: string
}

export type OperationName = Operation["op"]
export type OperationOf<Name extends OperationName> = Extract<Operation, { readonly op: Name }>

/** Where and when a line was written. */
export interface Stamp {
  /** The monotonic clock, which all processes of a machine share: a later line has the larger one. */
  readonly ns: bigint
  readonly pid: number
  /** Counts the lines of one process, from 0. */
  readonly seq: number
}

export type Entry = Operation & Stamp
export type EntryOf<Name extends OperationName> = OperationOf<Name> & Stamp

/** All lines, the earliest first. */
export type History = readonly Entry[]

type FieldType = "string" | "number" | "boolean" | "object"
type RequiredFields<Name extends OperationName> = {
  readonly [Field in keyof Omit<OperationOf<Name>, "op"> as undefined extends OperationOf<Name>[Field]
    ? never
    : Field]: FieldType
}

const FENCE = { run: "string", claim: "string" } as const
const MARKED = { run: "string", mark: "string" } as const
const CLAIM_FACTS = { ...FENCE, attempt: "number", lease: "string" } as const

/** The fields of each operation: a misspelt field would make the checker blind, not red. */
export const REQUIRED_FIELDS = {
  enq_invoke: { run: "string" },
  enq_ok: { run: "string", created: "boolean" },
  enq_fail: { run: "string", code: "string" },
  enq_info: { run: "string" },
  claim_sent: {},
  claim: CLAIM_FACTS,
  start: CLAIM_FACTS,
  effect: { run: "string" },
  end: { ...FENCE, outcome: "string" },
  settled: { ...FENCE, outcome: "string", runState: "string" },
  settle_info: FENCE,
  fenced: FENCE,
  abort: { ...FENCE, reason: "string" },
  lease_open: { lease: "string" },
  lease_lost: { lease: "string", because: "string" },
  reaped: { leases: "object", runs: "number" },
  cancel_invoke: { run: "string" },
  cancel_ok: { run: "string" },
  limit: { key: "string", cap: "number" },
  tx_invoke: MARKED,
  tx_ok: MARKED,
  tx_fail: MARKED,
  tx_info: MARKED,
  sched_put: { schedule: "string", version: "number" },
  sched_pause: { schedule: "string" },
  sched_resume: { schedule: "string" },
  cursor: { schedule: "string", version: "number", cursorUs: "number" },
  stop_invoke: {},
  stop_ok: {},
  healed: {},
  quiet_from: {},
  quiet_to: {},
  seen: { run: "string" },
  reader_from: {},
  reader_done: {},
  reader_gone: {},
  standing: {
    run: "string",
    state: "string",
    generation: "number",
    attempt: "number",
    claims: "number",
    rows: "object",
  },
  count: { states: "object", enqueued: "number" },
  sessions: { open: "number", idleInTransaction: "number", advisoryLocks: "number", most: "number" },
  vacuumed: { table: "string", dead: "number" },
  clock_set: { us: "number" },
  clock_off: { ms: "number" },
} as const satisfies { readonly [Name in OperationName]: RequiredFields<Name> }
