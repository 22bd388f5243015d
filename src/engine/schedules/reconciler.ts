/**
 * Tells the database once, at the start, which jobs this process declares, so that every process sees their settings, and
 * which schedules, so that they fire.
 *
 * A loop like the others: while the database is away it tries again. Runs do not wait for it, because execution needs the
 * declarations in the code and not those in the table. A start waits for the first try, so that callers find afterwards
 * what their code declares.
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
import { describeJobs } from "../../store/jobs/describe.ts"
import { lockJobs } from "../../store/jobs/lock.ts"
import { declareLimit } from "../../store/limits/declare.ts"
import { jobLimit } from "../enqueue/new-run.ts"
import { createBell, type Loop } from "../loop.ts"

export interface ReconcilerParts {
  readonly runtime: Runtime
  readonly events: Events
  readonly jobs: ReadonlyMap<string, AnyJob>
  /** The version of the code that declares them, where it has one. */
  readonly version: string | undefined
  /** Declares the schedules of the code, where it has any to say something about. */
  readonly declareSchedules?: (() => Promise<void>) | undefined
}

/** The actor in the audit. */
const ACTOR = "deploy"
/** Declarations stay: there is nothing more to do. */
const DONE_REST_MS = 86_400_000

export interface Reconciler extends Loop {
  /** Resolves when everything is declared, or when the first try has failed: the loop goes on with it then. */
  readonly tried: Promise<void>
}

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { runtime, events, jobs, version, declareSchedules } = parts
  const declared = [...jobs.values()].map((job) => ({
    name: job.name,
    settings: settingsOf(job),
    described: JSON.stringify(job.describe()),
    version: version ?? null,
  }))
  let hasJobs = declared.length === 0
  let hasSchedules = declareSchedules === undefined
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
    // After the jobs, because runs of schedules are made with the settings of their jobs.
    if (!hasSchedules && declareSchedules !== undefined) {
      await declareSchedules()
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
 * Compares declared jobs with the stored ones, and writes what is new and what counts.
 *
 * New jobs are written first: a process that loses that race waits for the winner, and then compares with what the winner
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
  const current = those(({ verdict }) => verdict !== "older").filter(
    ({ described }) => described !== undefined,
  )
  if (current.length > 0) {
    const described = current.map((job) => job.described ?? "null")
    await tx.run(describeJobs, { names: current.map(({ name }) => name), described })
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
