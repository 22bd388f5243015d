/** Writes a batch of ends to the database, around what it refuses, and tells which runs were still ours. */
import { DatabaseError } from "../errors.ts"
import { recordError } from "../queue/error-record.ts"
import { errorOf, type Fate, type Outcome } from "../queue/fate.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { findSettled } from "../store/attempts/find-settled.ts"
import { makePartitions } from "../store/attempts/partitions.ts"
import { finishRuns } from "../store/runs/finish.ts"
import { retryRuns } from "../store/runs/retry.ts"
import type { ClaimedRun } from "./attempt.ts"

/** One end to write down. */
export interface End {
  readonly run: ClaimedRun
  /** Null when the handler never ran. */
  readonly startedAtMs: number | null
  readonly outcome: Outcome
  readonly fate: Fate
}

export interface SettleBatch {
  readonly ends: readonly End[]
  /** Whether an earlier write of this end may have taken effect although its answer was lost. */
  readonly isDoubtful: (end: End) => boolean
  /** Called for each end as soon as it is certain, after the commit. */
  readonly tell: (end: End, ours: boolean) => Promise<void>
}

/** Throws when the database cannot be asked; what was certain by then has been told. */
export async function settleBatch(runtime: Runtime, batch: SettleBatch): Promise<void> {
  for (const ends of groupBy(batch.ends, ({ run, fate }) => `${run.lease} ${fate.final}`)) {
    await settleGroup(runtime, { ...batch, ends })
  }
}

/** One lease, one kind of fate. Around an end that is refused, in halves, until the bad one stands alone. */
async function settleGroup(runtime: Runtime, batch: SettleBatch): Promise<void> {
  const { ends } = batch
  try {
    await writeAndTell(runtime, batch)
  } catch (error) {
    if (!(error instanceof DatabaseError) || !DIVIDE_AT.has(error.code)) throw error
    const [first, second] = ends
    if (!first) return
    if (!second) return settleRefused(runtime, batch, first, error)
    const middle = Math.ceil(ends.length / 2)
    await settleGroup(runtime, { ...batch, ends: ends.slice(0, middle) })
    await settleGroup(runtime, { ...batch, ends: ends.slice(middle) })
  }
}

/** Errors that may be about one end and not about the database. */
const DIVIDE_AT: ReadonlySet<string> = new Set(["DATABASE_REFUSED_VALUE", "DATABASE_FAULT"])

/** A result that the database does not take: the attempt has failed, and history says why. */
async function settleRefused(
  runtime: Runtime,
  batch: SettleBatch,
  end: End,
  error: DatabaseError,
): Promise<void> {
  if (error.code !== "DATABASE_REFUSED_VALUE") throw error
  const dead = (message: string): End => ({
    ...end,
    outcome: { kind: "failed", error: { code: error.code, message, stack: null }, retryable: false },
    fate: { final: true, state: "dead" },
  })
  try {
    await writeAndTell(runtime, { ...batch, ends: [dead(recordError(error).message)] })
  } catch {
    // Even the reason was refused.
    await writeAndTell(runtime, { ...batch, ends: [dead("the database refused the result")] })
  }
}

async function writeAndTell(runtime: Runtime, { ends, isDoubtful, tell }: SettleBatch): Promise<void> {
  const ours = new Set(await write(runtime, ends))
  const missing = ends.filter((end) => !ours.has(end.run.id) && isDoubtful(end))
  if (missing.length > 0) for (const id of await lookUp(runtime, missing)) ours.add(id)
  for (const end of ends) await tell(end, ours.has(end.run.id))
}

async function write(runtime: Runtime, ends: readonly End[]): Promise<string[]> {
  const attempt = () => (ends[0]?.fate.final ? finish(runtime, ends) : retry(runtime, ends))
  return attempt().catch(async (error) => {
    if (!isMissingPartition(error)) throw error
    await makePartitions(runtime.database)
    return attempt()
  })
}

async function finish({ database, monotonicMs }: Runtime, ends: readonly End[]): Promise<string[]> {
  const params = {
    ...commonParams(ends, monotonicMs()),
    states: ends.map(({ fate }) => fate.state),
    results: ends.map(({ outcome }) => (outcome.kind === "succeeded" ? outcome.result : null)),
  }
  return idsOf(await database.run(finishRuns, params, { lane: "vital" }))
}

async function retry({ database, monotonicMs }: Runtime, ends: readonly End[]): Promise<string[]> {
  const params = {
    ...commonParams(ends, monotonicMs()),
    charged: ends.map(({ fate }) => !fate.final && fate.charged),
    delaysMs: ends.map(({ fate }) => (fate.final || fate.state === "ready" ? null : fate.delayMs)),
  }
  return idsOf(await database.run(retryRuns, params, { lane: "vital" }))
}

async function lookUp({ database }: Runtime, ends: readonly End[]): Promise<string[]> {
  const params = { ids: ends.map(({ run }) => run.id), claims: ends.map(({ run }) => run.claim) }
  return idsOf(await database.run(findSettled, params, { lane: "vital" }))
}

function commonParams(ends: readonly End[], nowMs: number) {
  const errors = ends.map(({ outcome }) => errorOf(outcome))
  return {
    lease: ends[0]?.run.lease ?? "",
    ids: ends.map(({ run }) => run.id),
    claims: ends.map(({ run }) => run.claim),
    outcomes: ends.map(({ outcome }) => outcome.kind),
    startedAgoMs: ends.map(({ startedAtMs }) =>
      startedAtMs === null ? null : Math.round(nowMs - startedAtMs),
    ),
    errorCodes: errors.map((error) => error?.code ?? null),
    errorMessages: errors.map((error) => error?.message ?? null),
    errorStacks: errors.map((error) => error?.stack ?? null),
  }
}

/** A violated check has the same code, but names its constraint. */
function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.sqlState !== "23514") return false
  const { constraint } = (error.cause ?? {}) as { constraint?: string }
  return constraint === undefined
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
