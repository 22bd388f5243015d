/**
 * Tells the database once, at the start, which jobs this process declares, so that everyone can see their
 * settings, and which schedules, so that they happen.
 *
 * A loop like the others: while the database is away it tries again. Executing runs does not wait for it, because it
 * needs the declarations in the code and not those in the table. A start waits for the first try, so that those who
 * look afterwards find what they have declared.
 */
import type { AnyJob } from "../../job/define.ts"
import {
  type DeclaredJob,
  type Reconciliation,
  readSettings,
  reconcile,
  settingsOf,
} from "../../job/reconcile.ts"
import type { Events } from "../../observe/events.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Transaction } from "../../store/database.ts"
import { advanceJobs } from "../../store/jobs/advance.ts"
import { changeJobs } from "../../store/jobs/change.ts"
import { declareJobs } from "../../store/jobs/declare.ts"
import { lockJobs } from "../../store/jobs/lock.ts"
import { declareLimit } from "../../store/limits/declare.ts"
import { jobLimit } from "../enqueue/new-run.ts"
import { createBell, type Loop } from "../loop.ts"
import type { ChangeParts } from "./change.ts"
import { type DeclaredSchedules, reconcileSchedules } from "./declared.ts"

export interface ReconcilerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly jobs: ReadonlyMap<string, AnyJob>
  /** The version of the code that declares them, where it has one. */
  readonly version: string | undefined
  /** The schedules that it declares, where it declares any, or none of those it had. */
  readonly schedules?: DeclaredSchedules | undefined
  readonly onReady?: ChangeParts["onReady"]
  readonly onParked?: ChangeParts["onParked"]
  readonly onDisplaced?: ChangeParts["onDisplaced"]
  readonly onChanged?: ChangeParts["onChanged"]
}

/** Who it is in the audit record. */
const ACTOR = "deploy"
/** What is declared stays declared: there is nothing more to do. */
const DONE_REST_MS = 86_400_000

export interface Reconciler extends Loop {
  /** Resolves when everything is declared, or when the first try has failed: the loop goes on with it then. */
  readonly tried: Promise<void>
}

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { runtime, events, jobs, version, schedules } = parts
  const { onReady = () => {}, onParked = () => {}, onDisplaced = () => {}, onChanged = () => {} } = parts
  const declared = [...jobs.values()].map((job) => ({
    name: job.name,
    settings: settingsOf(job),
    version: version ?? null,
  }))
  let hasJobs = declared.length === 0
  let hasSchedules = schedules === undefined
  let endFirst = () => {}
  const tried = new Promise<void>((resolve) => {
    endFirst = resolve
  })

  async function declareAll(): Promise<void> {
    if (!hasJobs) {
      const verdicts = await runtime.database.transaction((tx) => reconcileJobs(tx, declared))
      hasJobs = true
      for (const verdict of verdicts) tell(events, verdict)
    }
    // After the jobs: their runs are made as these are declared.
    if (!hasSchedules && schedules !== undefined) {
      await reconcileSchedules({ runtime, events, onReady, onParked, onDisplaced, onChanged }, schedules)
      hasSchedules = true
    }
  }

  return {
    name: "reconciler",
    bell: createBell(runtime),
    tried,
    tick: async () => {
      await declareAll().finally(endFirst)
      return DONE_REST_MS
    },
  }
}

/**
 * Compares declared jobs with those that are stored, and writes what is new and what counts.
 *
 * New ones are written first: whoever loses that race waits for the winner, and then compares with what it
 * has written.
 */
export async function reconcileJobs(
  tx: Transaction,
  declared: readonly DeclaredJob[],
): Promise<Reconciliation[]> {
  const version = declared[0]?.version ?? null
  const reason = version === null ? "declared at start" : `version ${version}`
  const rowsOf = (some: readonly DeclaredJob[]) => ({
    names: some.map(({ name }) => name),
    settings: some.map(({ settings }) => JSON.stringify(settings)),
  })

  const written = await tx.run(declareJobs, { ...rowsOf(declared), version, actor: ACTOR, reason })
  const fresh = new Set(written.map(({ name }) => name))
  const known = declared.filter(({ name }) => !fresh.has(name))
  const stored = await tx.run(lockJobs, { names: known.map(({ name }) => name) })
  const verdicts = reconcile(
    declared,
    stored.map((row) => ({ ...row, settings: readSettings(row.settings) })),
  )

  const those = (counts: (verdict: Reconciliation) => boolean) => {
    const names = new Set(verdicts.filter(counts).map(({ job }) => job))
    return declared.filter(({ name }) => names.has(name))
  }
  const changed = those(({ verdict }) => verdict === "changed")
  if (changed.length > 0) {
    await tx.run(changeJobs, { ...rowsOf(changed), version, actor: ACTOR, reason })
  }
  // What a newer version says about a limit stays, too.
  for (const { name, settings } of those(({ verdict }) => verdict !== "older")) {
    const { concurrency } = settings
    if (typeof concurrency === "number") {
      await tx.run(declareLimit, { name: jobLimit(name), cap: concurrency })
    }
  }
  const advanced = those((entry) => entry.verdict === "unchanged" && entry.advances)
  if (advanced.length > 0 && version !== null) {
    await tx.run(advanceJobs, { names: advanced.map(({ name }) => name), version })
  }
  return verdicts
}

function tell(events: Events, entry: Reconciliation): void {
  const { job } = entry
  if (entry.verdict === "new") events.emit({ type: "job.declared", job })
  if (entry.verdict === "changed") events.emit({ type: "job.changed", job, changes: entry.changes })
  if (entry.verdict === "older") {
    events.emit({ type: "job.outdated", job, declared: entry.declared, stored: entry.stored })
  }
}
