/** Small changes of evidence, of which mutations are made. Nothing is changed in place. */
import { entriesOf, type RunFacts } from "../../support/history/facts.ts"
import type { AttemptRow, FinalRead, LiveRun } from "../../support/history/final-read.ts"
import type { Entry, EntryOf, Operation } from "../../support/history/operations.ts"
import { inOrder } from "../../support/history/read-history.ts"
import type { Invariant } from "../../support/history/violation.ts"
import { type Evidence, printable } from "../model/world.ts"

/** One way to break a promise. */
export interface Mutation {
  readonly name: string
  readonly breaks: Invariant
  /** What may be broken by the same fault. */
  readonly beside?: readonly Invariant[]
  /** The evidence with one fault in it, or nothing where there is no place for that fault. */
  readonly apply: (scene: Scene) => Evidence | undefined
}

/** Evidence, what is known of each run in it, and a choice. */
export interface Scene extends Evidence {
  readonly runs: readonly RunFacts[]
  readonly choose: <T>(from: readonly T[]) => T | undefined
}

export function editRead(evidence: Evidence, change: Partial<FinalRead>): Evidence {
  return printable({ history: evidence.history, finalRead: { ...evidence.finalRead, ...change } })
}

/** Each entry becomes what `change` returns; nothing removes it. */
export function editHistory(evidence: Evidence, change: (entry: Entry) => Entry | undefined): Evidence {
  const history = evidence.history.flatMap((entry) => change(entry) ?? [])
  return printable({ history: inOrder(history), finalRead: evidence.finalRead })
}

/** Adds what one more process has written, later than all the rest. */
export function addEntries(evidence: Evidence, ...operations: readonly Operation[]): Evidence {
  const lastNs = evidence.history.at(-1)?.ns ?? 0n
  const added = operations.map(
    (operation, seq): Entry => ({ ...operation, ns: lastNs + BigInt(seq + 1), pid: STRANGER, seq }),
  )
  return printable({ history: [...evidence.history, ...added], finalRead: evidence.finalRead })
}

/** A process that is not in the history. */
export const STRANGER = 999

/** Each attempt becomes what `change` returns; nothing removes it. */
export function editRows(evidence: Evidence, change: (row: AttemptRow) => AttemptRow | undefined): Evidence {
  return editRead(evidence, { attempts: evidence.finalRead.attempts.flatMap((row) => change(row) ?? []) })
}

export function editRow(evidence: Evidence, row: AttemptRow, change: Partial<AttemptRow>): Evidence {
  return editRows(evidence, (other) => (other === row ? { ...row, ...change } : other))
}

export function addRow(evidence: Evidence, row: AttemptRow): Evidence {
  return editRead(evidence, { attempts: [...evidence.finalRead.attempts, row] })
}

export function addLive(evidence: Evidence, ...live: readonly LiveRun[]): Evidence {
  return editRead(evidence, { runs: [...evidence.finalRead.runs, ...live] })
}

export function readyRun(run: string, generation = 1): LiveRun {
  return {
    run,
    job: "work",
    tenant: "",
    state: "ready",
    parkedFor: null,
    priority: 0,
    key: null,
    generation,
    attempt: 0,
    claims: 0,
    lease: null,
    claim: null,
    cause: null,
    enqueuedAtUs: 0,
    dueAtUs: 0,
    schedule: null,
    occurrenceUs: null,
  }
}

/** Forgets what was written about a run by these operations. */
export function forget(evidence: Evidence, run: string, ops: readonly Operation["op"][]): Evidence {
  return editHistory(evidence, (entry) =>
    "run" in entry && entry.run === run && ops.includes(entry.op) ? undefined : entry,
  )
}

export const ENQUEUES = ["enq_invoke", "enq_ok", "enq_info", "enq_fail"] as const
export const HANDLING = ["start", "effect", "end", "abort"] as const

export function isAcknowledged({ entries }: RunFacts): boolean {
  return entriesOf(entries, "enq_ok").length > 0
}

/** Whether the run was enqueued, and is there. */
export function isEnqueued({ entries, rows }: RunFacts): boolean {
  return rows.length > 0 && entriesOf(entries, "enq_invoke").length > 0
}

/** The last row of a run that says how it ended. */
export function endOf({ rows }: RunFacts): AttemptRow | undefined {
  return rows.findLast(({ runState }) => runState !== null)
}

export function startOf({ entries }: RunFacts, row: AttemptRow): EntryOf<"start"> | undefined {
  return entriesOf(entries, "start").find(({ claim }) => claim === row.claim)
}

/** Whether any process has written about the claim of this row. */
export function isKnown({ entries }: RunFacts, row: AttemptRow): boolean {
  return entriesOf(entries, "claim", "start").some(({ claim }) => claim === row.claim)
}

/** Each attempt with the one before it. */
export function pairsOf({ rows }: RunFacts): (readonly [before: AttemptRow, after: AttemptRow])[] {
  return rows.flatMap((after, index) => {
    const before = rows[index - 1]
    return before ? [[before, after] as const] : []
  })
}
