/**
 * Writes the declared jobs and schedules into the database, once at the start. Every process then sees the settings of
 * the jobs, and the schedules fire.
 *
 * It is a loop, so it retries while the database is unreachable. Runs do not wait for it, because their execution needs
 * the declarations in the code, not those in the table. A start waits for the first try, so that the declared schedules
 * exist after it.
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
  /** The version of the code. Undefined without one. */
  readonly version: string | undefined
  /** Declares the schedules of the code. Undefined without the option `schedules`. */
  readonly declareSchedules?: (() => Promise<void>) | undefined
}

/** The actor in the audit. */
const ACTOR = "deploy"
/** After the declarations nothing is left to do. */
const DONE_REST_MS = 86_400_000

export interface Reconciler extends Loop {
  /** Resolves when everything is declared, or after the first try has failed. The loop then retries. */
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
 * Compares declared jobs with stored ones, and writes new jobs and changes of the latest version.
 *
 * New jobs are written first. If two processes insert the same job, the second waits for the first and then compares
 * with what the first has written.
 */
export async function reconcileJobs(
  tx: Transaction,
  declared: readonly DeclaredJob[],
): Promise<Reconciliation[]> {
  const version = declared[0]?.version ?? null
  const reason = version === null ? "declared at start" : `version ${version}`
  const rowsOf = (rows: readonly DeclaredJob[]) => ({
    names: rows.map(({ name }) => name),
    settings: rows.map(({ settings }) => JSON.stringify(settings)),
  })

  const written = await tx.run(declareJobs, { ...rowsOf(declared), version, actor: ACTOR, reason })
  const fresh = new Set(written.map(({ name }) => name))
  const known = declared.filter(({ name }) => !fresh.has(name))
  const stored = await tx.run(lockJobs, { names: known.map(({ name }) => name) })
  const verdicts = reconcile(
    declared,
    stored.map((row) => ({ ...row, settings: readSettings(row.settings) })),
  )

  const jobsWith = (condition: (verdict: Reconciliation) => boolean) => {
    const names = new Set(verdicts.filter(condition).map(({ job }) => job))
    return declared.filter(({ name }) => names.has(name))
  }
  const changed = jobsWith(({ verdict }) => verdict === "changed")
  if (changed.length > 0) {
    await tx.run(changeJobs, { ...rowsOf(changed), version, actor: ACTOR, reason })
  }
  // The limit of a newer version stays as well.
  for (const { name, settings } of jobsWith(({ verdict }) => verdict !== "older")) {
    const { concurrency } = settings
    if (typeof concurrency === "number") {
      await tx.run(declareLimit, { name: jobLimit(name), job: name, cap: concurrency })
    }
  }
  const current = jobsWith(({ verdict }) => verdict !== "older").filter(
    ({ described }) => described !== undefined,
  )
  if (current.length > 0) {
    const described = current.map((job) => job.described ?? "null")
    await tx.run(describeJobs, { names: current.map(({ name }) => name), described })
  }
  const advanced = jobsWith((entry) => entry.verdict === "unchanged" && entry.advances)
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
