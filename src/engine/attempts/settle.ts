/**
 * Writes a batch of settlements: one statement for each lease, and one each for successes and for all other outcomes.
 *
 * Guarantee: the listener hears of each settlement once it is certain, after the commit.
 *
 * Refused: a batch that the database refuses is written in halves, until the refused settlement stands alone. It is
 * then written as a failure, set aside, or given up.
 */
import { DatabaseError } from "../../errors.ts"
import { recordError } from "../../queue/error-record.ts"
import { fingerprintOf } from "../../queue/fingerprint.ts"
import { CAUSE_OF, errorOf, type NextState, type Outcome } from "../../queue/next-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findSettledRuns } from "../../store/attempts/by-run.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { completeRuns } from "../../store/runs/complete.ts"
import { completeScheduledRuns } from "../../store/runs/complete-scheduled.ts"
import { settleRuns } from "../../store/runs/settle.ts"

/** The process that writes, and the version of its code. */
export interface WorkerIdentity {
  readonly worker: string
  readonly version: string | null
}

/** The end of one attempt, to be written. */
export interface Settlement {
  readonly run: {
    readonly id: string
    readonly lease: string
    readonly claim: bigint
    readonly extra?: { readonly schedule?: string | null }
    readonly job?: { readonly name: string }
  }
  /** Null if the handler never ran. */
  readonly startedAtMs: number | null
  /** A failure takes the place of a result that the database refuses. */
  outcome: Outcome
  next: NextState
  /** JSON of the lines that the handler logged. */
  logs: string | null
  /** An earlier write may have committed although its answer was lost. */
  isDoubtful: boolean
}

export interface SettleListener<S extends Settlement> {
  /** Called after the commit. A ready run stands at `rank` in its lane. */
  readonly onSettled: (settlement: S, state: string, rank: bigint) => void
  /** The run no longer belonged to this worker. */
  readonly onFenced: (settlement: S) => void
  /** Called after the commit with the limits that may admit their next run. */
  readonly onRoom: (limitKeys: readonly string[]) => void
  /** Fails even alone, for no known reason of its own. The other settlements go on. */
  readonly onSetAside: (settlement: S, error: DatabaseError) => void
  /** The database refuses even the failure. The run stays as it is until its lease ends. */
  readonly onGivenUp: (settlement: S, error: DatabaseError) => void
}

interface SettleParts<S extends Settlement> extends SettleListener<S> {
  readonly runtime: Runtime
  readonly identity: WorkerIdentity
}

/** Rejects if the database cannot be asked. The listener has heard of everything that was certain by then. */
export async function settle<S extends Settlement>(
  parts: SettleParts<S>,
  settlements: readonly S[],
): Promise<void> {
  for (const batch of alike(settlements)) {
    for (const part of onePerRun(batch)) await settleBatch(parts, part)
  }
}

/** Gives back runs that a claim took although its answer was lost. */
export async function releaseUnknown(
  runtime: Runtime,
  identity: WorkerIdentity,
  { lease, claim, ids }: { lease: string; claim: bigint; ids: readonly string[] },
): Promise<void> {
  const settlements = ids.map(
    (id): Settlement => ({
      run: { id, lease, claim },
      startedAtMs: null,
      outcome: { kind: "released" },
      next: { state: "ready" },
      logs: null,
      isDoubtful: false,
    }),
  )
  let failure: DatabaseError | undefined
  const onFailure = (_: Settlement, error: DatabaseError) => {
    failure ??= error
  }
  const ignore = () => {}
  const listener = { onSettled: ignore, onFenced: ignore, onRoom: ignore }
  const failures = { onSetAside: onFailure, onGivenUp: onFailure }
  await settle({ runtime, identity, ...listener, ...failures }, settlements)
  if (failure) throw failure
}

/** Groups of one lease and one statement. Nearly every batch is one group. */
function alike<S extends Settlement>(settlements: readonly S[]): readonly (readonly S[])[] {
  const [first] = settlements
  if (first === undefined) return []
  const isLikeFirst = ({ run, outcome }: S) =>
    run.lease === first.run.lease && isSuccess(outcome) === isSuccess(first.outcome)
  if (settlements.every(isLikeFirst)) return [settlements]
  return [settlements.filter(isLikeFirst), ...alike(settlements.filter((each) => !isLikeFirst(each)))]
}

/**
 * Splits a batch that holds two settlements of one run, because the answers of the database go by the run. The second
 * one comes from a later claim of the run. The doubtful one, which was written before, goes first.
 */
function onePerRun<S extends Settlement>(batch: readonly S[]): readonly (readonly S[])[] {
  // A run is claimed again only after an earlier write has committed.
  if (!batch.some(({ isDoubtful }) => isDoubtful)) return [batch]
  const first = new Map<string, S>()
  for (const each of batch) {
    const { id } = each.run
    const earlier = first.get(id)
    if (!earlier || (each.isDoubtful && !earlier.isDoubtful)) first.set(id, each)
  }
  if (first.size === batch.length) return [batch]
  const rest = batch.filter((each) => first.get(each.run.id) !== each)
  return [[...first.values()], ...onePerRun(rest)]
}

async function settleBatch<S extends Settlement>(parts: SettleParts<S>, batch: readonly S[]): Promise<void> {
  try {
    await writeAndTell(parts, batch)
  } catch (error) {
    if (!isAboutOne(error)) throw error
    const [first, second] = batch
    if (!first) return
    if (!second) return settleAlone(parts, first, error)
    const middle = Math.ceil(batch.length / 2)
    await settleBatch(parts, batch.slice(0, middle))
    await settleBatch(parts, batch.slice(middle))
  }
}

/** The error may be about one settlement and not about the database. */
function isAboutOne(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (isRefused(error) || error.code === "DATABASE_FAULT")
}

function isRefused({ code }: DatabaseError): boolean {
  return code === "DATABASE_REFUSED_VALUE"
}

/** The database refuses the result. The attempt counts as failed, and history says why. */
async function settleAlone<S extends Settlement>(
  parts: SettleParts<S>,
  settlement: S,
  error: DatabaseError,
): Promise<void> {
  // A fault may pass, and a run that was not tried has no result to refuse.
  if (!isRefused(error) || settlement.outcome.kind === "released") return parts.onSetAside(settlement, error)
  let refusal = error
  // The message of the error may hold the value that was refused.
  for (const message of [recordError(error).message, "the database refused the result"]) {
    settlement.outcome = {
      kind: "failed",
      error: { code: error.code, message, stack: null },
      retryable: false,
    }
    settlement.next = { state: "dead" }
    settlement.logs = null
    try {
      return await writeAndTell(parts, [settlement])
    } catch (again) {
      if (!isAboutOne(again)) throw again
      if (!isRefused(again)) return parts.onSetAside(settlement, again)
      refusal = again
    }
  }
  parts.onGivenUp(settlement, refusal)
}

async function writeAndTell<S extends Settlement>(parts: SettleParts<S>, batch: readonly S[]): Promise<void> {
  const { runtime, identity, onSettled, onFenced } = parts
  const { find, limitKeys } = await withPartitions(runtime.database, () => write(runtime, identity, batch))
  await runtime.crashPoint("settle.written")
  const missing: S[] = []
  // Told before anything else can fail: the next write of a settlement would not find its run any more.
  for (const settlement of batch) {
    const settled = find(settlement.run.id)
    if (settled) onSettled(settlement, settled.state, settled.rank)
    else if (settlement.isDoubtful) missing.push(settlement)
    else onFenced(settlement)
  }
  if (limitKeys.length > 0) parts.onRoom(limitKeys)
  if (missing.length === 0) return
  const history = await findSettledRuns(
    runtime.database,
    missing.map(({ run }) => run),
    "vital",
  )
  for (const settlement of missing) {
    const found = history.find(({ id }) => id === settlement.run.id)
    // The earlier write took effect. History names the final state; an attempt that was not the last has none.
    if (found) onSettled(settlement, found.state ?? settlement.next.state, 0n)
    else onFenced(settlement)
  }
}

interface Answer {
  /** The state of a run, and its rank if it is ready. `undefined`: it no longer belonged to this worker. */
  readonly find: (run: string) => State | undefined
  readonly limitKeys: readonly string[]
}

interface State {
  readonly state: string
  readonly rank: bigint
}

const SUCCEEDED: State = { state: "succeeded", rank: 0n }
const CANCELLED: State = { state: "cancelled", rank: 0n }
const VITAL = { connection: "vital" } as const

/** All of one kind. Successes have a statement of their own, which is the cheapest way to settle. */
async function write(
  runtime: Runtime,
  identity: WorkerIdentity,
  batch: readonly Settlement[],
): Promise<Answer> {
  const { database } = runtime
  const [first] = batch
  if (first && !isSuccess(first.outcome)) {
    const rows = await database.run(settleRuns, settleParams(runtime, identity, batch), VITAL)
    const states = new Map<string, State>(rows.map((row) => [row.id, row]))
    return { find: (run) => states.get(run), limitKeys: rows.flatMap((row) => listOf(row.limit_keys)) }
  }
  const statement = completionOf(batch)
  // A statement that replaces runs of schedules locks several of them, in the order of their ids.
  const inOrder = statement === completeScheduledRuns ? batch.toSorted(byId) : batch
  const params = completeParams(runtime, identity, inOrder)
  const [row] = await database.run(statement, params, VITAL)
  const limitKeys = listOf(row?.limit_keys)
  if (row?.count === batch.length && row.cancelled === null) return { find: () => SUCCEEDED, limitKeys }
  const completed = new Set(row?.count === batch.length ? params.ids : listOf(row?.completed))
  const cancelled = new Set(listOf(row?.cancelled))
  const find = (run: string) => (cancelled.has(run) ? CANCELLED : completed.has(run) ? SUCCEEDED : undefined)
  return { find, limitKeys }
}

/** The statement that writes these successes. */
export function completionOf(batch: readonly Pick<Settlement, "run">[]): typeof completeRuns {
  return batch.some(({ run }) => run.extra?.schedule) ? completeScheduledRuns : completeRuns
}

/** Of successes under one lease. */
export function completeParams(runtime: Runtime, identity: WorkerIdentity, batch: readonly Settlement[]) {
  const params = commonParams(runtime, identity, batch)
  return { ...params, startedAgoMs: params.startedAgoMs.map((ms) => ms ?? 0) }
}

/** Of all other outcomes under one lease. */
function settleParams(runtime: Runtime, identity: WorkerIdentity, batch: readonly Settlement[]) {
  const errors = batch.map(({ outcome }) => errorOf(outcome))
  const prints = batch.map(({ run, outcome }) => {
    const error = errorOf(outcome)
    return error && fingerprintOf(run.job?.name ?? "", error)
  })
  return {
    ...commonParams(runtime, identity, batch),
    states: batch.map(({ next }) => next.state),
    outcomes: batch.map(({ outcome }) => outcome.kind),
    delaysMs: sparse(batch.map(({ next }) => (next.state === "waiting" ? next.delayMs : null))),
    causes: sparse(batch.map(({ outcome }) => causeOf(outcome))),
    errorCodes: sparse(errors.map((error) => error?.code ?? null)),
    errorMessages: sparse(errors.map((error) => error?.message ?? null)),
    errorStacks: sparse(errors.map((error) => error?.stack ?? null)),
    fingerprints: sparse(prints),
  }
}

function commonParams(runtime: Runtime, identity: WorkerIdentity, batch: readonly Settlement[]) {
  const { agoMs } = runtime
  const nowMs = runtime.monotonicMs()
  return {
    ...identity,
    lease: batch[0]?.run.lease ?? "",
    ids: batch.map(({ run }) => run.id),
    claims: batch.map(({ run }) => run.claim),
    startedAgoMs: batch.map(({ startedAtMs }) =>
      startedAtMs === null ? null : Math.round(agoMs ? agoMs(startedAtMs) : nowMs - startedAtMs),
    ),
    results: sparse(batch.map(({ outcome }) => resultOf(outcome))),
    logs: sparse(batch.map(({ logs }) => logs)),
  }
}

function isSuccess({ kind }: Outcome): boolean {
  return kind === "succeeded"
}

/** Most handlers return nothing. Null says so in fewer bytes. */
function resultOf(outcome: Outcome): string | null {
  return outcome.kind === "succeeded" && outcome.result !== "null" ? outcome.result : null
}

/** An empty list stands for nulls only. */
function sparse<T>(values: readonly (T | null)[]): readonly (T | null)[] {
  return values.every((value) => value === null) ? [] : values
}

function causeOf({ kind }: Outcome): string | null {
  return kind in CAUSE_OF ? CAUSE_OF[kind as keyof typeof CAUSE_OF] : null
}

function listOf(json: string | null | undefined): string[] {
  return json ? (JSON.parse(json) as string[]) : []
}

function byId({ run: a }: Settlement, { run: b }: Settlement): number {
  return a.id < b.id ? -1 : 1
}
