/**
 * Makes runs of occurrences of the past, in chunks, each in a short transaction of its own.
 *
 * Nothing is kept about how far it has come: the ledger says which occurrences have their runs. When a process dies in
 * between, whoever asks for the same again gets the rest, and two who ask at once get one run of each between them.
 *
 * Occurrences that the schedule may still decide about by itself are not touched, so that neither takes the other's. Only
 * those of a pause that lasts are open to both, to a backfill now and to whoever ends the pause later; there the row of
 * the schedule is locked, which no tick waits for while it is paused.
 */
import { DEFAULTS } from "../../defaults.ts"
import { CarillonError, OptionsError } from "../../errors.ts"
import { PRIORITY_RANGE } from "../../job/options.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import {
  chooseReruns,
  isLeftToBackfills,
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
import { findSchedule } from "../../store/schedules/find.ts"
import { DAY_MS } from "../../time/civil.ts"
import { formatInstant, type InstantMs } from "../../time/instant.ts"
import { audit, lockedSchedule, notFound, type StoredSchedule, wrongState } from "./change.ts"
import { leftOutOf, overlapKeyOf, runSettingsOf, scheduledOf } from "./decided.ts"

export interface BackfillParts {
  readonly runtime: Runtime
  /** Runs stand in line under these keys. */
  readonly onParked: (keys: readonly string[]) => void
}

export interface BackfillRequest extends Span {
  readonly name: string
  readonly tenant: string
  readonly by: { readonly actor: string; readonly reason: string }
  readonly reprocess: Reprocess
  readonly order: "oldest" | "newest"
  readonly maxParallel: number
  /** `undefined`: one below that of the schedule. */
  readonly priority: number | undefined
  readonly isForced: boolean
  readonly isDryRun: boolean
  readonly sharesOverlap: boolean
}

export interface Backfilled {
  /** How many occurrences were to get a run. */
  readonly count: number
  /** How many runs were made of them: the others were made by somebody else in the meantime. */
  readonly runs: number
}

/** How many occurrences one transaction deals with. */
const CHUNK = 500
/** More than this may be a mistake. */
const MOST_UNFORCED = 10_000

export async function backfill(parts: BackfillParts, request: BackfillRequest): Promise<Backfilled> {
  const { database } = parts.runtime
  const row = await find(database, request)
  refuse(row, request)
  let [count, runs] = [0, 0]
  let isRecorded = false
  for (let span: Span | undefined = request; span; ) {
    const chunk: Chunk = request.isDryRun
      ? await readChunk(database, row, request, span)
      : await writeChunk(parts, request, span, !isRecorded)
    count += chunk.reruns.length
    runs += chunk.runs
    isRecorded ||= chunk.runs > 0
    span = chunk.rest
  }
  return { count, runs }
}

/** Refuses what is not there, what lies in the future, and what is likely a mistake. */
function refuse(row: StoredSchedule, request: BackfillRequest): void {
  const { from, to, reprocess, isForced, sharesOverlap } = request
  const { overlap } = scheduledOf(row).policy
  if (sharesOverlap && (overlap === "collapse" || overlap === "replace")) {
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
        `${formatInstant(to)}, and ${MOST_UNFORCED} are made without \`force\`. Choose a shorter span, or say \`force: true\`.`,
    )
  }
  const known = now - DEFAULTS.firesMs
  // Before it was there, no occurrence of it has fired.
  const first = Math.max(from, Math.floor(row.created_at))
  if (reprocess !== "all" && first < Math.min(known, to)) {
    throw new CarillonError(
      "BACKFILL_UNKNOWN",
      `Which occurrences of schedule ${JSON.stringify(row.name)} between ${formatInstant(first)} and ` +
        `${formatInstant(known)} had their runs is not known any more: the ledger is kept for ${DEFAULTS.firesMs / DAY_MS} days. Begin later, or say ` +
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
  const standing = { state: row.state, cursor: row.cursor, pausedAt: row.paused_at }
  const leftOut = leftOutOf(row)
  // What was left out by request is decided, also where the schedule has not come so far.
  const isOpen = (at: InstantMs) => isLeftToBackfills(standing, at) || leftOut.includes(at)
  // In the order of time, whichever end it begins at.
  const open = occurrences.filter(isOpen).toSorted((a, b) => a - b)
  const [first, last] = [open[0], open.at(-1)]
  if (first === undefined || last === undefined) return { reruns: [], runs: 0, rest }
  const isJudged = reprocess !== "missing"
  const ledger = await on.run(readFires, { schedule: row.id, first, last, isJudged })
  return { reruns: chooseReruns(open, ledger, reprocess), runs: 0, rest }
}

async function writeChunk(
  { runtime, onParked }: BackfillParts,
  request: BackfillRequest,
  span: Span,
  isFirst: boolean,
): Promise<Chunk> {
  const { database } = runtime
  let needed: InstantMs[] = []
  let keys: readonly string[] = []
  const write = () =>
    database.transaction(async (tx): Promise<Chunk> => {
      // As it is now: an edit meanwhile counts from the next chunk on.
      const row = await findForChunk(tx, request)
      const chunk = await readChunk(tx, row, request, span)
      if (chunk.reruns.length === 0) return chunk
      needed = chunk.reruns.map(({ occurrence }) => occurrence)
      const line = lineOf(row, request)
      const settings = settingsOf(row, request)
      keys = [line.overlapKey, settings.jobLimit].filter((key) => key !== null)
      if (line.cap > 1) await tx.run(declareLimit, { name: line.limitName, cap: line.cap })
      const [made] = await tx.run(backfillFires, {
        schedule: row.id,
        occurrences: needed,
        generations: chunk.reruns.map(({ generation }) => generation),
        runs: chunk.reruns.map(({ occurrence, generation }) => occurrenceId(row.id, occurrence, generation)),
        isNewestFirst: request.order === "newest",
        isAside: line.isAside,
        overlapKey: line.overlapKey,
        limitName: line.limitName,
        ...settings,
      })
      const runs = made?.runs ?? 0
      if (isFirst && runs > 0) await audit(tx, "schedule.backfill", row, request.by, askedFor(request))
      return { ...chunk, runs }
    })
  const written = await write().catch(async (error: unknown) => {
    if (!isMissingMonth(error)) throw error
    await makeFirePartitionsInTurn(database, needed)
    return write()
  })
  await runtime.crashPoint("backfill.committed")
  if (written.runs > 0) onParked(keys)
  return written
}

async function find(on: Runner, { name, tenant }: BackfillRequest): Promise<StoredSchedule> {
  const [row] = await on.run(findSchedule, { tenant, name })
  if (!row) throw notFound(name)
  return row
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
  readonly limitName: string
  readonly cap: number
  readonly isAside: boolean
}

/** The line that its runs stand in: one of their own, unless they are to wait for those of the schedule, and these for them. */
function lineOf(row: StoredSchedule, { sharesOverlap, maxParallel }: BackfillRequest): Line {
  const shared = sharesOverlap ? overlapKeyOf(scheduledOf(row), row.tenant) : null
  if (shared !== null) return { overlapKey: shared, limitName: "overlap", cap: 1, isAside: false }
  // A limit is named by its cap: several backfills of one schedule may be under way, each with its own.
  const limitName = maxParallel === 1 ? "overlap" : `overlap:${maxParallel}`
  return { overlapKey: `schedule:${row.id}:backfill`, limitName, cap: maxParallel, isAside: true }
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
