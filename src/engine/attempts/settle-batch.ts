/** Writes a batch of ends to the database, around what it refuses, and tells what became of each run. */
import { DatabaseError } from "../../errors.ts"
import { recordError } from "../../queue/error-record.ts"
import { CAUSE_OF, errorOf, type Fate, type Outcome } from "../../queue/fate.ts"
import { fingerprintOf } from "../../queue/fingerprint.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { findSettledRuns } from "../../store/attempts/by-run.ts"
import { withPartitions } from "../../store/attempts/with-partitions.ts"
import { completeRuns } from "../../store/runs/complete.ts"
import { completeScheduledRuns } from "../../store/runs/complete-scheduled.ts"
import { settleRuns } from "../../store/runs/settle.ts"

/** Which process writes, and which version of the code it runs. */
export interface WorkerIdentity {
  readonly worker: string
  readonly version: string | null
}

/** One end to write down. */
export interface End {
  readonly run: {
    readonly id: string
    readonly lease: string
    readonly claim: bigint
    /** Says whether it comes from a schedule; one that was given back untried need not. */
    readonly extra?: { readonly schedule?: string | null }
  }
  /** Null when the handler never ran. */
  readonly startedAtMs: number | null
  readonly outcome: Outcome
  readonly fate: Fate
  /** JSON of what the handler logged. */
  readonly logs: string | null
}

/** What a run has become, and where it stands if it is ready. */
export interface Became {
  readonly state: string
  readonly rank: bigint
  /** Keys of limits under which there may be room now. */
  readonly limitKeys: readonly string[]
}

export interface SettleBatch<E extends End> {
  readonly ends: readonly E[]
  readonly identity: WorkerIdentity
  /** Whether an earlier write of this end may have taken effect although its answer was lost. */
  readonly isDoubtful: (end: E) => boolean
  /** Called for each end as soon as it is certain, after the commit. `undefined`: it was no longer ours. */
  readonly tell: (end: E, became: Became | undefined) => void
  /** Called before another end is written in the place of one that the database refuses. */
  readonly replace: (end: E, by: E) => void
  /** Called for an end that fails even alone, for no reason of its own that is known. The others go on. */
  readonly setAside: (end: E, error: DatabaseError) => void
  /** Called for an end that is refused however it is put: the row itself is at fault, and its lease decides about it. */
  readonly giveUp: (end: E, error: DatabaseError) => void
}

/** Throws when the database cannot be asked; what was certain by then has been told. */
export async function settleBatch<E extends End>(runtime: Runtime, batch: SettleBatch<E>): Promise<void> {
  for (const ends of alike(batch.ends)) {
    for (const part of onePerRun(ends, batch.isDoubtful)) await settleGroup(runtime, { ...batch, ends: part })
  }
}

/**
 * An end whose answer was lost, and the next one of the same run, which was claimed here again: what the database answers
 * goes by the run, so each is written for itself, the one that was tried before first.
 */
function onePerRun<E extends End>(
  ends: readonly E[],
  isDoubtful: (end: E) => boolean,
): readonly (readonly E[])[] {
  // Only what may have been written before can have been claimed again.
  if (!ends.some(isDoubtful)) return [ends]
  const first = new Map<string, E>()
  for (const end of ends) {
    const { id } = end.run
    const earlier = first.get(id)
    if (!earlier || (isDoubtful(end) && !isDoubtful(earlier))) first.set(id, end)
  }
  if (first.size === ends.length) return [ends]
  const rest = ends.filter((end) => first.get(end.run.id) !== end)
  return [[...first.values()], ...onePerRun(rest, isDoubtful)]
}

/** Gives back runs that a claim took without anyone here knowing of them. */
export async function releaseUnknown(
  runtime: Runtime,
  identity: WorkerIdentity,
  { lease, claim, ids }: { lease: string; claim: bigint; ids: readonly string[] },
): Promise<void> {
  const ends = ids.map(
    (id): End => ({
      run: { id, lease, claim },
      startedAtMs: null,
      outcome: { kind: "released" },
      fate: { final: false, state: "ready" },
      logs: null,
    }),
  )
  let failure: DatabaseError | undefined
  const fail = (_: End, error: DatabaseError) => {
    failure ??= error
  }
  const nobodyWaits = { isDoubtful: () => false, tell: () => {}, replace: () => {} }
  await settleBatch(runtime, { ends, identity, ...nobodyWaits, setAside: fail, giveUp: fail })
  if (failure) throw failure
}

/** One lease, and only successes or none. Around an end that is refused, in halves, until the bad one stands alone. */
async function settleGroup<E extends End>(runtime: Runtime, batch: SettleBatch<E>): Promise<void> {
  const { ends } = batch
  try {
    await writeAndTell(runtime, batch)
  } catch (error) {
    if (!isAboutOne(error)) throw error
    const [first, second] = ends
    if (!first) return
    if (!second) return settleAlone(runtime, batch, first, error)
    const middle = Math.ceil(ends.length / 2)
    await settleGroup(runtime, { ...batch, ends: ends.slice(0, middle) })
    await settleGroup(runtime, { ...batch, ends: ends.slice(middle) })
  }
}

/** Errors that may be about one end and not about the database. */
function isAboutOne(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (isRefused(error) || error.code === "DATABASE_FAULT")
}

function isRefused({ code }: DatabaseError): boolean {
  return code === "DATABASE_REFUSED_VALUE"
}

/** A result that the database does not take: the attempt has failed, and history says why. */
async function settleAlone<E extends End>(
  runtime: Runtime,
  batch: SettleBatch<E>,
  end: E,
  error: DatabaseError,
): Promise<void> {
  // Nothing is wrong with the result, and what it is may pass. What was not tried has none.
  if (!isRefused(error) || end.outcome.kind === "released") return batch.setAside(end, error)
  const reasons = [recordError(error).message, "the database refused the result"]
  for (const [index, message] of reasons.entries()) {
    const dead: E = {
      ...end,
      outcome: { kind: "failed", error: { code: error.code, message, stack: null }, retryable: false },
      fate: { final: true, state: "dead" },
      logs: null,
    }
    batch.replace(end, dead)
    try {
      return await writeAndTell(runtime, { ...batch, ends: [dead] })
    } catch (again) {
      if (!isAboutOne(again)) throw again
      if (!isRefused(again)) return batch.setAside(dead, again)
      if (index === reasons.length - 1) return batch.giveUp(dead, again)
    }
  }
}

async function writeAndTell<E extends End>(runtime: Runtime, batch: SettleBatch<E>): Promise<void> {
  const { ends, identity, isDoubtful, tell } = batch
  const became = await write(runtime, identity, ends)
  await runtime.crashPoint("settle.written")
  const missing: E[] = []
  // What is written is told before anything else can fail: nobody would know of it the next time.
  for (const end of ends) {
    const what = became(end.run.id)
    if (what === undefined && isDoubtful(end)) missing.push(end)
    else tell(end, what)
  }
  if (missing.length === 0) return
  const lost = missing.map(({ run }) => run)
  const settled = await findSettledRuns(runtime.database, lost, "vital")
  for (const end of missing) {
    const found = settled.find(({ id }) => id === end.run.id)
    // It took effect the first time; what it became is what was meant, unless somebody had cancelled the run.
    tell(end, found && { state: found.state ?? end.fate.state, rank: 0n, limitKeys: [] })
  }
}

/** What a run has become by a write; `undefined` for one that was not ours. */
type BecameOf = (run: string) => Became | undefined

/** Successes go the short way, all others the general one. */
async function write(runtime: Runtime, identity: WorkerIdentity, ends: readonly End[]): Promise<BecameOf> {
  const [first] = ends
  const way = first && isSuccess(first.outcome) ? writeSuccesses : writeOthers
  return withPartitions(runtime.database, () => way(runtime, identity, ends))
}

/** What writes down the successes of these. */
export function completionOf(ends: readonly Pick<End, "run">[]): typeof completeRuns {
  return ends.some(({ run }) => run.extra?.schedule) ? completeScheduledRuns : completeRuns
}

const SUCCEEDED: Became = { state: "succeeded", rank: 0n, limitKeys: [] }

async function writeSuccesses(
  runtime: Runtime,
  identity: WorkerIdentity,
  ends: readonly End[],
): Promise<BecameOf> {
  const statement = completionOf(ends)
  // Whoever replaces runs of schedules locks many of them at once, in the order of their ids.
  const inOrder = statement === completeScheduledRuns ? ends.toSorted(byId) : ends
  const params = completeParams(runtime, identity, inOrder)
  const [row] = await runtime.database.run(statement, params, { connection: "vital" })
  const isOrdinary = row?.count === ends.length && row.cancelled === null && row.limit_keys === null
  if (isOrdinary) return () => SUCCEEDED
  const completed = row?.count === ends.length ? params.ids : (JSON.parse(row?.completed ?? "[]") as string[])
  const became = new Map(completed.map((id) => [id, SUCCEEDED]))
  const cancelled = row?.cancelled ? (JSON.parse(row.cancelled) as string[]) : []
  for (const id of cancelled) became.set(id, { ...SUCCEEDED, state: "cancelled" })
  // Whoever of them gave up its place, the lines are told once.
  const [first] = completed
  if (row?.limit_keys && first) {
    const { state = "" } = became.get(first) ?? {}
    became.set(first, { state, rank: 0n, limitKeys: JSON.parse(row.limit_keys) })
  }
  return (run) => became.get(run)
}

async function writeOthers(
  runtime: Runtime,
  identity: WorkerIdentity,
  ends: readonly End[],
): Promise<BecameOf> {
  const params = settleParams(runtime, identity, ends)
  const rows = await runtime.database.run(settleRuns, params, { connection: "vital" })
  const became = new Map<string, Became>(
    rows.map(({ id, state, rank, limit_keys: keys }) => [
      id,
      { state, rank, limitKeys: keys === null ? [] : (JSON.parse(keys) as string[]) },
    ]),
  )
  return (run) => became.get(run)
}

/** The parameters of runs/complete for successes under one lease. Lists without a value are sent empty. */
export function completeParams(runtime: Runtime, identity: WorkerIdentity, ends: readonly End[]) {
  return {
    ...identity,
    lease: ends[0]?.run.lease ?? "",
    ids: ends.map(({ run }) => run.id),
    claims: ends.map(({ run }) => run.claim),
    startedAgoMs: startedAgo(runtime, ends).map((ms) => ms ?? 0),
    results: sparse(ends.map(({ outcome }) => (isSuccess(outcome) ? resultOf(outcome) : null))),
    logs: sparse(ends.map(({ logs }) => logs)),
  }
}

/** How long ago the handlers started; null for those that did not run. */
function startedAgo({ monotonicMs, agoMs }: Runtime, ends: readonly End[]): (number | null)[] {
  const nowMs = monotonicMs()
  return ends.map(({ startedAtMs }) => {
    if (startedAtMs === null) return null
    return Math.round(agoMs ? agoMs(startedAtMs) : nowMs - startedAtMs)
  })
}

function isSuccess(outcome: Outcome): outcome is Extract<Outcome, { kind: "succeeded" }> {
  return outcome.kind === "succeeded"
}

/** Nothing, where a handler returned nothing: that is what most of them return. */
function resultOf({ result }: { readonly result: string }): string | null {
  return result === "null" ? null : result
}

/** The parameters of runs/settle for ends under one lease. Lists without a value are sent empty. */
export function settleParams(runtime: Runtime, identity: WorkerIdentity, ends: readonly End[]) {
  const errors = ends.map(({ outcome }) => errorOf(outcome))
  return {
    ...identity,
    lease: ends[0]?.run.lease ?? "",
    ids: ends.map(({ run }) => run.id),
    claims: ends.map(({ run }) => run.claim),
    states: ends.map(({ fate }) => fate.state),
    outcomes: ends.map(({ outcome }) => outcome.kind),
    startedAgoMs: startedAgo(runtime, ends),
    results: ends.map(({ outcome }) => (outcome.kind === "succeeded" ? outcome.result : null)),
    delaysMs: sparse(ends.map(({ fate }) => ("delayMs" in fate ? fate.delayMs : null))),
    causes: sparse(ends.map(({ outcome }) => causeOf(outcome))),
    errorCodes: sparse(errors.map((error) => error?.code ?? null)),
    errorMessages: sparse(errors.map((error) => error?.message ?? null)),
    errorStacks: sparse(errors.map((error) => error?.stack ?? null)),
    fingerprints: sparse(errors.map((error) => error && fingerprintOf(error))),
    logs: sparse(ends.map(({ logs }) => logs)),
  }
}

/** A list of nulls only needs not be sent. */
function sparse<T>(values: readonly (T | null)[]): readonly (T | null)[] {
  return values.every((value) => value === null) ? [] : values
}

function causeOf({ kind }: Outcome): string | null {
  return kind in CAUSE_OF ? CAUSE_OF[kind as keyof typeof CAUSE_OF] : null
}

function byId({ run: a }: End, { run: b }: End): number {
  return a.id < b.id ? -1 : 1
}

/** In groups of one lease and only successes or none, which nearly every batch is already. */
function alike<E extends End>(ends: readonly E[]): readonly (readonly E[])[] {
  const [first] = ends
  if (first === undefined) return []
  const isLikeFirst = ({ run, outcome }: E) =>
    run.lease === first.run.lease && isSuccess(outcome) === isSuccess(first.outcome)
  if (ends.every(isLikeFirst)) return [ends]
  return [ends.filter(isLikeFirst), ...alike(ends.filter((end) => !isLikeFirst(end)))]
}
