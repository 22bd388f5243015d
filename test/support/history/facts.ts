/** A history and a final read, sorted by what they are about: what the invariants are judged by. */
import type {
  AttemptRow,
  AuditRow,
  DeadLetter,
  FinalRead,
  LiveRun,
  Outcome,
  WorkerRow,
} from "./final-read.ts"
import type { Entry, EntryOf, Fence, History, OperationName } from "./operations.ts"

export interface Facts {
  readonly runs: readonly RunFacts[]
  readonly history: History
  readonly workers: ReadonlyMap<string, WorkerRow>
}

/** All that is known of one run. */
export interface RunFacts {
  readonly run: string
  /** What processes wrote about it, the earliest first. */
  readonly entries: readonly Entry[]
  readonly live: readonly LiveRun[]
  /** Its attempts, the first to end first. */
  readonly rows: readonly AttemptRow[]
  readonly deadLetters: readonly DeadLetter[]
  readonly audit: readonly AuditRow[]
}

/** One life of a run: a replay begins the next. */
export interface Generation {
  readonly generation: number
  readonly live: readonly LiveRun[]
  readonly rows: readonly AttemptRow[]
  /** The rows that say what became of the run. There should be one, or none while it lives. */
  readonly ends: readonly AttemptRow[]
}

/** Outcomes that only the worker itself can have written, under its own fence. */
export const SETTLED_BY_WORKER: ReadonlySet<Outcome> = new Set<Outcome>([
  "succeeded",
  "failed",
  "timed_out",
  "snoozed",
  "released",
])

export function collectFacts(history: History, finalRead: FinalRead): Facts {
  const entries = groupBy(history, (entry) => ("run" in entry ? entry.run : undefined))
  const live = groupBy(finalRead.runs, ({ run }) => run)
  const rows = groupBy(finalRead.attempts, ({ run }) => run)
  const deadLetters = groupBy(finalRead.deadLetters, ({ run }) => run)
  const audit = groupBy(finalRead.audit, ({ run }) => run ?? undefined)
  const runs = new Set([entries, live, rows, deadLetters].flatMap((group) => [...group.keys()]))
  return {
    runs: [...runs].map((run) => ({
      run,
      entries: entries.get(run) ?? [],
      live: live.get(run) ?? [],
      rows: (rows.get(run) ?? []).sort((a, b) => a.finishedAtUs - b.finishedAtUs),
      deadLetters: deadLetters.get(run) ?? [],
      audit: audit.get(run) ?? [],
    })),
    history,
    workers: new Map(finalRead.workers.map((worker) => [worker.lease, worker])),
  }
}

export function entriesOf<Name extends OperationName>(
  entries: readonly Entry[],
  ...names: readonly Name[]
): EntryOf<Name>[] {
  const wanted: ReadonlySet<string> = new Set(names)
  return entries.filter((entry): entry is Entry & EntryOf<Name> => wanted.has(entry.op))
}

/** The lives of a run, the first one first. */
export function generationsOf({ rows, live }: RunFacts): Generation[] {
  const numbers = new Set([...rows, ...live].map(({ generation }) => generation))
  return [...numbers]
    .sort((a, b) => a - b)
    .map((generation) => {
      const mine = rows.filter((row) => row.generation === generation)
      return {
        generation,
        live: live.filter((row) => row.generation === generation),
        rows: mine,
        ends: mine.filter(({ runState }) => runState !== null),
      }
    })
}

/** The rows about one claim. There should be one. */
export function rowsOf({ rows }: RunFacts, { claim }: Pick<Fence, "claim">): AttemptRow[] {
  return rows.filter((row) => row.claim === claim)
}

/** Who wrote these, each once. */
export function processesOf(entries: readonly Entry[]): string {
  return [...new Set(entries.map(({ pid }) => pid))].join(", ")
}

export function hasAudit({ audit }: RunFacts, action: string): boolean {
  return audit.some((row) => row.action === action)
}

/** Everything that does not belong to any key is left out. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** What each run has to complain about, as sentences that begin with the run. */
export function aboutEachRun(
  { runs }: Facts,
  complain: (facts: RunFacts) => readonly string[],
): { subject: string; says: string }[] {
  return runs.flatMap((facts) =>
    complain(facts).map((says) => ({ subject: facts.run, says: `Run ${facts.run} ${says}` })),
  )
}
