/**
 * Makes runs of past occurrences, in chunks. Each chunk is a short transaction.
 *
 * A backfill stores no progress: the ledger says which occurrences have runs. After a crash the same call makes the
 * rest. Two equal calls at the same time make one run for each occurrence.
 *
 * A backfill skips occurrences that the schedule may still decide. Both a backfill and a later resume may decide the
 * occurrences of a pause that is still on. For those the backfill locks the row of the schedule. No tick waits for that
 * lock, because the schedule is paused.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { OperationResult, TellEffects } from "../../engine/effects.ts"
import { audit, lockedSchedule, type StoredSchedule } from "../../engine/schedules/change.ts"
import {
  leftOutOf,
  overlapKeyOf,
  overlapKindOf,
  runSettingsOf,
  scheduledOf,
} from "../../engine/schedules/decisions.ts"
import { notFound, wrongState } from "../../engine/schedules/refusals.ts"
import { CarillonError, OptionsError } from "../../errors.ts"
import { PRIORITY_RANGE } from "../../job/options.ts"
import { behaviourOf } from "../../job/overlap.ts"
import type { LimitKind } from "../../queue/limit-kind.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import {
  chooseReruns,
  mayBackfill,
  type Reprocess,
  type Rerun,
  type Span,
  sliceOf,
} from "../../schedule/backfill.ts"
import { occurrenceId } from "../../schedule/occurrence-id.ts"
import type { Runner, Transaction } from "../../store/database.ts"
import { backfillFires } from "../../store/fires/backfill.ts"
import { isMissingMonth, makeFirePartitionsInTurn } from "../../store/fires/partitions.ts"
import { readFires } from "../../store/fires/read-span.ts"
import { declareLimit } from "../../store/limits/declare.ts"
import { DAY_MS } from "../../time/civil.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { perform } from "../perform.ts"
import { find } from "./find.ts"
import type { WhichSchedule } from "./which.ts"

export interface BackfillParts {
  readonly runtime: Runtime
  readonly tell: TellEffects
}

export interface BackfillRequest extends Span, WhichSchedule {
  readonly reprocess: Reprocess
  readonly order: "oldest" | "newest"
  readonly maxParallel: number
  /** `undefined`: one below the priority of the schedule. */
  readonly priority: number | undefined
  readonly isForced: boolean
  readonly isDryRun: boolean
  readonly sharesOverlap: boolean
}

export interface Backfilled {
  /** How many occurrences were chosen. */
  readonly count: number
  /** How many runs this call made. Lower than `count` if another call made some of them in between. */
  readonly runs: number
}

/** The most occurrences in one transaction. */
const CHUNK = 500
/** A larger backfill needs `force`, because it may be a mistake. */
const MOST_UNFORCED = 10_000

/** Tells the effects of each chunk after its commit, so its runs start while later chunks are written. */
export async function backfillSchedule(
  { runtime, tell }: BackfillParts,
  request: BackfillRequest,
): Promise<Backfilled> {
  const { database } = runtime
  const row = await find(database, request)
  refuse(row, request)
  let [count, runs] = [0, 0]
  let isRecorded = false
  for (let span: Span | undefined = request; span; ) {
    const chunk: Chunk = request.isDryRun
      ? await readChunk(database, row, request, span)
      : await perform(tell, writeChunk(runtime, { request, span, isFirst: !isRecorded }))
    count += chunk.reruns.length
    runs += chunk.runs
    isRecorded ||= chunk.runs > 0
    span = chunk.rest
  }
  return { count, runs }
}

/** Refuses a span in the future and requests that are probably mistakes. */
function refuse(row: StoredSchedule, request: BackfillRequest): void {
  const { from, to, reprocess, isForced, sharesOverlap } = request
  const { overlap } = scheduledOf(row).policy
  if (sharesOverlap && behaviourOf(overlap).displaces) {
    const message = `with overlap "${overlap}" the next occurrence would take the places of all that wait`
    throw new OptionsError("schedules.backfill", [{ path: "shareOverlap", message }])
  }
  if (row.state === "cancelled")
    throw wrongState(row, "backfill", "It was cancelled, and makes no more runs.")
  if ("afterCompletion" in (JSON.parse(row.spec) as object)) {
    const message =
      "makes each run after the end of the one before it: there is no occurrence that it could have missed"
    throw new OptionsError("schedules.backfill", [{ path: "name", message }])
  }
  const now = Math.floor(row.now_ms)
  if (to > now) {
    const message = `is later than now, which is ${formatInstant(now)} by the database's clock`
    throw new OptionsError("schedules.backfill", [{ path: "to", message }])
  }
  if (isForced) return
  const count = scheduledOf(row).recurrence.count(from, to)
  if (count > MOST_UNFORCED) {
    throw new CarillonError(
      "BACKFILL_TOO_LARGE",
      `Schedule ${JSON.stringify(row.name)} has ${count} occurrences from ${formatInstant(from)} to ` +
        `${formatInstant(to)}, and ${MOST_UNFORCED} are made without \`force\`. ` +
        "Choose a shorter span, or say `force: true`.",
    )
  }
  const ledgerFrom = now - DEFAULTS.firesMs
  // Before the schedule was created, no occurrence of it fired.
  const first = Math.max(from, Math.floor(row.created_at))
  if (reprocess !== "all" && first < Math.min(ledgerFrom, to)) {
    throw new CarillonError(
      "BACKFILL_UNKNOWN",
      `Which occurrences of schedule ${JSON.stringify(row.name)} between ${formatInstant(first)} and ` +
        `${formatInstant(ledgerFrom)} had their runs is not known any more: the ledger is kept for ` +
        `${DEFAULTS.firesMs / DAY_MS} days. Begin later, or say ` +
        '`reprocess: "all"` or `force: true` to run again what it does not know.',
    )
  }
}

interface Chunk {
  readonly reruns: readonly Rerun[]
  readonly runs: number
  readonly rest: Span | undefined
}

async function readChunk(
  on: Runner,
  row: StoredSchedule,
  { order, reprocess }: BackfillRequest,
  span: Span,
): Promise<Chunk> {
  const { recurrence } = scheduledOf(row)
  const { occurrences, rest } = sliceOf(recurrence, span, { order, limit: CHUNK })
  const progress = { state: row.state, cursor: row.cursor, pausedAt: row.paused_at }
  const leftOut = leftOutOf(row)
  // An occurrence that `skipNext` left out is decided, even ahead of the cursor.
  const isOpen = (at: InstantMs) => mayBackfill(progress, at) || leftOut.includes(at)
  // In order of time, also for a backfill that begins with the newest.
  const open = occurrences.filter(isOpen).toSorted((a, b) => a - b)
  const [first, last] = [open[0], open.at(-1)]
  if (first === undefined || last === undefined) return { reruns: [], runs: 0, rest }
  const isJudged = reprocess !== "missing"
  const ledger = await on.run(readFires, { schedule: row.id, first, last, isJudged })
  return { reruns: chooseReruns(open, ledger, reprocess), runs: 0, rest }
}

/** Writes one chunk in its own transaction. */
async function writeChunk(
  runtime: Runtime,
  {
    request,
    span,
    isFirst,
  }: { readonly request: BackfillRequest; readonly span: Span; readonly isFirst: boolean },
): Promise<OperationResult<Chunk>> {
  const { database } = runtime
  let needed: InstantMs[] = []
  const write = () =>
    database.transaction(async (tx): Promise<OperationResult<Chunk>> => {
      // Read again for each chunk: an edit in between counts from the next chunk on.
      const row = await findForChunk(tx, request)
      const chunk = await readChunk(tx, row, request, span)
      if (chunk.reruns.length === 0) return { answer: chunk, effects: {} }
      needed = chunk.reruns.map(({ occurrence }) => occurrence)
      const line = lineOf(row, request)
      const settings = settingsOf(row, request)
      const keys = [line.overlapKey, settings.jobLimit].filter((key) => key !== null)
      if (line.limitName !== null)
        await tx.run(declareLimit, { name: line.limitName, job: "", cap: line.cap })
      const [made] = await tx.run(backfillFires, {
        schedule: row.id,
        occurrences: needed,
        generations: chunk.reruns.map(({ generation }) => generation),
        runs: chunk.reruns.map(({ occurrence, generation }) => occurrenceId(row.id, occurrence, generation)),
        isNewestFirst: request.order === "newest",
        isAside: line.isAside,
        overlapKey: line.overlapKey,
        overlapKind: line.kind,
        limitName: line.limitName,
        ...settings,
      })
      const runs = made?.runs ?? 0
      if (isFirst && runs > 0) {
        await audit(tx, "schedule.backfill", { row, by: request.by, outcome: askedFor(request) })
      }
      return { answer: { ...chunk, runs }, effects: runs > 0 ? { admit: keys } : {} }
    })
  const written = await write().catch(async (error: unknown) => {
    if (!isMissingMonth(error)) throw error
    await makeFirePartitionsInTurn(database, needed)
    return write()
  })
  await runtime.crashPoint("backfill.committed")
  return written
}

async function findForChunk(tx: Transaction, request: BackfillRequest): Promise<StoredSchedule> {
  const found = await find(tx, request)
  if (found.state !== "paused") return found
  const { name, tenant } = request
  const locked = await lockedSchedule(tx, tenant, name)
  if (!locked) throw notFound(name)
  return locked
}

interface Line {
  readonly overlapKey: string
  readonly kind: LimitKind
  /** Null: one at a time. */
  readonly limitName: string | null
  readonly cap: number
  readonly isAside: boolean
}

/** Backfilled runs queue on their own, unless `sharesOverlap` puts them in the schedule's line. */
function lineOf(row: StoredSchedule, { sharesOverlap, maxParallel }: BackfillRequest): Line {
  const scheduled = scheduledOf(row)
  const shared = sharesOverlap ? overlapKeyOf(scheduled, row.tenant) : null
  if (shared !== null) {
    return { overlapKey: shared, kind: overlapKindOf(scheduled), limitName: null, cap: 1, isAside: false }
  }
  // The name holds the cap: backfills of one schedule may run at the same time with different caps.
  const limitName = maxParallel === 1 ? null : `backfill:${maxParallel}`
  const overlapKey = `schedule:${row.id}:backfill`
  return { overlapKey, kind: "backfill", limitName, cap: maxParallel, isAside: true }
}

function settingsOf(row: StoredSchedule, { priority }: BackfillRequest) {
  const { startWithinMs: _, ...settings } = runSettingsOf(row)
  const below = Math.max(PRIORITY_RANGE.min, settings.priority - 1)
  return { ...settings, priority: priority ?? below }
}

function askedFor({ from, to, reprocess, order, maxParallel, sharesOverlap }: BackfillRequest): object {
  return {
    ...{ from: formatInstant(from), to: formatInstant(to) },
    ...{ reprocess, order, maxParallel, sharesOverlap },
  }
}
