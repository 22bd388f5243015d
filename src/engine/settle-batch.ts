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
  readonly startedAtMs: number
  readonly outcome: Outcome
  readonly fate: Fate
}

export interface SettleBatch {
  readonly ends: readonly End[]
  /** An earlier write of these may have taken effect although its answer was lost. */
  readonly repeated: boolean
  /** Called for each end as soon as it is certain, after the commit. */
  readonly onCertain: (end: End, ours: boolean) => Promise<void>
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
    if (!(error instanceof DatabaseError) || error.code !== "DATABASE_REFUSED_VALUE") throw error
    const [first, second] = ends
    if (!first) return
    if (!second) return writeAndTell(runtime, { ...batch, ends: [refused(first, error)] })
    const middle = Math.ceil(ends.length / 2)
    await settleGroup(runtime, { ...batch, ends: ends.slice(0, middle) })
    await settleGroup(runtime, { ...batch, ends: ends.slice(middle) })
  }
}

async function writeAndTell(runtime: Runtime, { ends, repeated, onCertain }: SettleBatch): Promise<void> {
  const ours = new Set(await write(runtime, ends))
  const missing = ends.filter(({ run }) => !ours.has(run.id))
  if (repeated && missing.length > 0) for (const id of await lookUp(runtime, missing)) ours.add(id)
  for (const end of ends) await onCertain(end, ours.has(end.run.id))
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
    delaysMs: ends.map(({ fate }) => (fate.final ? 0 : fate.delayMs)),
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
    startedAgoMs: ends.map(({ startedAtMs }) => Math.round(nowMs - startedAtMs)),
    errorCodes: errors.map((error) => error?.code ?? null),
    errorMessages: errors.map((error) => error?.message ?? null),
    errorStacks: errors.map((error) => error?.stack ?? null),
  }
}

/** A result that the database does not take: the attempt has failed, and history says why. */
function refused(end: End, error: DatabaseError): End {
  const outcome = { kind: "failed", error: { ...recordError(error), stack: null }, retryable: false } as const
  return { ...end, outcome, fate: { final: true, state: "dead" } }
}

/** 23514 is also what a check constraint answers; then making partitions changes nothing and it comes again. */
function isMissingPartition(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlState === "23514"
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
