/**
 * The vocabulary of a history: what processes under test write down while they work, one line per operation.
 *
 * When a line is written is part of its meaning, because a process may be killed between any two of them.
 * What is asked for is written before the call is made; what was answered is written after the answer. So a
 * line says what certainly was asked or certainly was answered, and the absence of a line says nothing.
 * `info` is an answer too: nobody knows.
 */
export type Operation =
  /**
   * Before an enqueue is sent. `attempts` is how many the run may use; `mayExpire` says that it must start in
   * time.
   */
  | {
      readonly op: "enq_invoke"
      readonly run: string
      readonly key?: string
      readonly attempts?: number
      readonly mayExpire?: boolean
    }
  /** It was acknowledged: as a new run, or as the one that was there already under this id or key. */
  | { readonly op: "enq_ok"; readonly run: string; readonly created: boolean }
  /** It certainly changed nothing. */
  | { readonly op: "enq_fail"; readonly run: string; readonly code: string }
  /** Nobody knows whether it was written. */
  | { readonly op: "enq_info"; readonly run: string }
  /** The answer to a claim named this run. */
  | ({ readonly op: "claim" } & ClaimFacts)
  /** Before the handler is called. */
  | ({ readonly op: "start" } & ClaimFacts)
  /** In the handler: something was done that the database does not know of. */
  | { readonly op: "effect"; readonly run: string; readonly claim?: string; readonly key?: string }
  /** The handler has returned or thrown, before anything of that is written. */
  | ({ readonly op: "end"; readonly outcome: string } & Fence)
  /** The database has committed this end of the attempt. */
  | ({ readonly op: "settled"; readonly outcome: string; readonly runState: string } & Fence)
  /** Nobody knows whether this end was committed, and the process gave up asking. */
  | ({ readonly op: "settle_info" } & Fence)
  /** The run was not this worker's any more: what it had to say was refused. */
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
  | { readonly op: "cancel_ok"; readonly run: string }

/**
 * What a worker presents when it writes about a run; the claim in digits, because it has more than a number
 * can hold.
 */
export interface Fence {
  readonly run: string
  readonly claim: string
}

export interface ClaimFacts extends Fence {
  /** The number of the attempt, as its handler is told. */
  readonly attempt: number
  readonly lease: string
  /** The number that outside systems fence by. */
  readonly fence?: number
}

export type OperationName = Operation["op"]
export type OperationOf<Name extends OperationName> = Extract<Operation, { readonly op: Name }>

/** Where and when a line was written. */
export interface Stamp {
  /** The monotonic clock, which all processes of a machine share: whatever is later has the larger one. */
  readonly ns: bigint
  readonly pid: number
  /** Counts the lines of one process, from 0. */
  readonly seq: number
}

export type Entry = Operation & Stamp
export type EntryOf<Name extends OperationName> = OperationOf<Name> & Stamp

/** Everything that was written down, the earliest first. */
export type History = readonly Entry[]

type FieldType = "string" | "number" | "boolean" | "object"
type RequiredFields<Name extends OperationName> = {
  readonly [Field in keyof Omit<OperationOf<Name>, "op"> as undefined extends OperationOf<Name>[Field]
    ? never
    : Field]: FieldType
}

const FENCE = { run: "string", claim: "string" } as const
const CLAIM_FACTS = { ...FENCE, attempt: "number", lease: "string" } as const

/** What each operation must say: a misspelt field would make the checker blind, not red. */
export const REQUIRED_FIELDS = {
  enq_invoke: { run: "string" },
  enq_ok: { run: "string", created: "boolean" },
  enq_fail: { run: "string", code: "string" },
  enq_info: { run: "string" },
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
} as const satisfies { readonly [Name in OperationName]: RequiredFields<Name> }
