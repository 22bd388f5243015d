/** A history and a final read, sorted by subject: the input of the invariants. */
import { type DatabaseTime, databaseTimeOf } from "./database-time.ts"
import type {
  AttemptRow,
  AuditRow,
  DeadLetter,
  FinalRead,
  FireRow,
  LiveRun,
  Outcome,
  WorkerRow,
} from "./final-read.ts"
import type { Asked, Entry, EntryOf, Fence, History, OperationName } from "./operations.ts"

export interface Facts {
  readonly runs: readonly RunFacts[]
  readonly history: History
  readonly workers: ReadonlyMap<string, WorkerRow>
  readonly read: FinalRead
  readonly byRun: ReadonlyMap<string, RunFacts>
  /** The ledger of each schedule, by its id, the first occurrence first. */
  readonly ledgers: ReadonlyMap<string, readonly FireRow[]>
  /** What the database's clock read when a line was written, as precisely as that is known. */
  readonly databaseTime: DatabaseTime
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
  /** What its enqueues asked for. */
  readonly asked: Asked
  /** The id of the schedule that it comes from. */
  readonly schedule: string | null
  /** Its ledger rows: one for each occurrence that it stands for. */
  readonly fires: readonly FireRow[]
  /** What the database's clock read at the end. */
  readonly readAtUs: number
}

/** One life of a run: a replay begins the next. */
export interface Generation {
  readonly generation: number
  readonly live: readonly LiveRun[]
  readonly rows: readonly AttemptRow[]
  /** The rows with an end of the run. There should be one, or none while it lives. */
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
  const fires = groupBy(finalRead.fires, ({ run }) => run ?? undefined)
  const byRun = new Map<string, RunFacts>()
  for (const run of runs) {
    const own = entries.get(run) ?? []
    const [alive, ended] = [live.get(run) ?? [], rows.get(run) ?? []]
    byRun.set(run, {
      run,
      entries: own,
      live: alive,
      rows: ended.sort((a, b) => a.finishedAtUs - b.finishedAtUs),
      deadLetters: deadLetters.get(run) ?? [],
      audit: audit.get(run) ?? [],
      asked: Object.assign({}, ...entriesOf(own, "enq_invoke")) as Asked,
      schedule: alive[0]?.schedule ?? ended[0]?.schedule ?? null,
      fires: fires.get(run) ?? [],
      readAtUs: finalRead.nowUs,
    })
  }
  const ledgers = groupBy(finalRead.fires, ({ schedule }) => schedule)
  for (const ledger of ledgers.values()) ledger.sort((a, b) => a.occurrenceUs - b.occurrenceUs)
  return {
    runs: [...byRun.values()],
    byRun,
    history,
    workers: new Map(finalRead.workers.map((worker) => [worker.lease, worker])),
    read: finalRead,
    ledgers,
    databaseTime: databaseTimeOf(history, finalRead.attempts),
  }
}

export function entriesOf<Name extends OperationName>(
  entries: readonly Entry[],
  ...names: readonly Name[]
): EntryOf<Name>[] {
  const wanted: readonly string[] = names
  return entries.filter((entry): entry is Entry & EntryOf<Name> => wanted.includes(entry.op))
}

/** The generations of a run, the first one first. */
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

/** The processes that wrote these, each once. */
export function processesOf(entries: readonly Entry[]): string {
  return [...new Set(entries.map(({ pid }) => pid))].join(", ")
}

export function hasAudit({ audit }: RunFacts, action: string): boolean {
  return audit.some((row) => row.action === action)
}

/** Leaves out everything without a key. */
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

/** The complaints about each run, as sentences that begin with the run. */
export function aboutEachRun(
  { runs }: Pick<Facts, "runs">,
  complain: (facts: RunFacts) => readonly string[],
): { subject: string; says: string }[] {
  return runs.flatMap((facts) =>
    complain(facts).map((says) => ({ subject: facts.run, says: `Run ${facts.run} ${says}` })),
  )
}
