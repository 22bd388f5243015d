/**
 * The overlap policies, as one table. All other code asks for a behaviour and never compares names.
 *
 * To add a policy, add its name and its row here, and a test. The statements take what they need as parameters.
 */

/**
 * What a schedule does with an occurrence that comes due while an earlier run is unfinished. A run that waits for a
 * retry is unfinished.
 *
 * - `"skip"`: the occurrence gets no run.
 * - `"queue"`: its run waits until the earlier runs have ended.
 * - `"collapse"`: its run waits and replaces one that waits already.
 * - `"replace"`: Carillon cancels the earlier run and starts the new one when that has ended.
 * - `"allow"`: both run at the same time.
 */
export type OverlapOption = "skip" | "queue" | "collapse" | "replace" | "allow"

export interface OverlapBehaviour {
  /** Runs under the key of the schedule start one after the other. */
  readonly isAlone: boolean
  /** A due occurrence gets no run while another run of the schedule is live. */
  readonly dropsWhileLive: boolean
  /** Every due occurrence waits for its turn. With `maxQueued` live runs the schedule stops making more. */
  readonly queues: boolean
  /** Which other runs of the schedule end in favour of a new one; null if none do. */
  readonly displaces: Displacement | null
  /** Why the policy makes no sense with misfire `all`; null if it does. */
  readonly againstAll: string | null
  /** What other systems call it. */
  readonly aliases: readonly string[]
}

export interface Displacement {
  /** A run that has not started always goes. A run that waits for a retry or is running goes if this says so. */
  readonly takesStarted: boolean
  /** What the ledger says of an occurrence whose run never started. */
  readonly outcome: "coalesced" | "superseded"
}

const TAKES_TURNS = { isAlone: true, dropsWhileLive: false, queues: false, displaces: null } as const

const OVERLAPS: Readonly<Record<OverlapOption, OverlapBehaviour>> = {
  skip: {
    ...TAKES_TURNS,
    dropsWhileLive: true,
    againstAll: "only the first missed occurrence would run",
    aliases: ["Skip"],
  },
  queue: {
    ...TAKES_TURNS,
    queues: true,
    againstAll: null,
    aliases: ["BufferAll"],
  },
  collapse: {
    ...TAKES_TURNS,
    displaces: { takesStarted: false, outcome: "coalesced" },
    againstAll: 'only the newest missed occurrence would run, which is misfire "latest"',
    aliases: ["Forbid"],
  },
  replace: {
    ...TAKES_TURNS,
    displaces: { takesStarted: true, outcome: "superseded" },
    againstAll: "each missed occurrence would cancel the one before it",
    aliases: ["CancelOther", "Replace"],
  },
  allow: {
    ...TAKES_TURNS,
    isAlone: false,
    againstAll: null,
    aliases: ["AllowAll", "Allow"],
  },
}

export const OVERLAP_NAMES = Object.keys(OVERLAPS) as readonly OverlapOption[]

const NAMED: ReadonlyMap<unknown, OverlapOption> = new Map(
  OVERLAP_NAMES.flatMap((name) => [name, ...OVERLAPS[name].aliases].map((alias) => [alias, name] as const)),
)

/** Our name for a policy, which may be written as other systems call it; `undefined`: there is no such policy. */
export function overlapNamed(name: unknown): OverlapOption | undefined {
  return NAMED.get(name)
}

export function behaviourOf(overlap: OverlapOption): OverlapBehaviour {
  return OVERLAPS[overlap]
}
