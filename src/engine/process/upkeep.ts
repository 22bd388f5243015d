/**
 * Makes the coming partitions of history and of the ledger of occurrences, and deletes what has been kept for long
 * enough.
 *
 * Every process does this. Work that one process has done, the others find done.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { makePartitions } from "../../store/attempts/partitions.ts"
import { dropExpired } from "../../store/attempts/retention.ts"
import { forgetAudit } from "../../store/audit/forget.ts"
import { makeFirePartitions } from "../../store/fires/partitions.ts"
import { dropExpiredMonths } from "../../store/fires/retention.ts"
import { forgetKeys } from "../../store/keys/forget.ts"
import { forgetWaves } from "../../store/limits/forget-waves.ts"
import { createBell, type Loop } from "../loop.ts"

export interface Upkeep extends Loop {
  /** Makes only what the first settles need. The rest can wait until the process is at work. */
  readonly prepare: () => Promise<void>
  /** Deletes what has been kept for long enough. Resolves to true if more is left than one call should delete. */
  readonly tidy: (signal: AbortSignal) => Promise<boolean>
}

const EVERY_MS = 3_600_000
/** The rest when one tick was not enough. */
const SOON_MS = 1_000
const BATCH = 1_000
const MOST_BATCHES = 100

/** `onFailure` is called with what could not be dropped, and in how many ticks in a row. */
export function createUpkeep(
  runtime: Runtime,
  onFailure: (error: unknown, failures: number) => void = () => {},
): Upkeep {
  const { database } = runtime
  let failures = 0

  async function dropPartitions(): Promise<boolean> {
    const retentions = [await dropExpired(database), await dropExpiredMonths(database)]
    const kept = retentions.flatMap((retention) => retention.kept)
    failures = kept.length > 0 ? failures + 1 : 0
    for (const error of kept) onFailure(error, failures)
    return retentions.some(({ more }) => more)
  }

  async function tidy(signal: AbortSignal): Promise<boolean> {
    const unfinished = [
      await dropPartitions(),
      await forgetMany(signal, () => database.run(forgetKeys, { limit: BATCH })),
      await forgetMany(signal, () => database.run(forgetWaves, { idleMs: EVERY_MS, limit: BATCH })),
      await forgetMany(signal, () => database.run(forgetAudit, { keepMs: DEFAULTS.auditMs, limit: BATCH })),
    ]
    return unfinished.includes(true)
  }

  return {
    name: "upkeep",
    bell: createBell(runtime),
    prepare: async () => {
      await makePartitions(database, 1)
      await makeFirePartitions(database)
    },
    tick: async (signal) => {
      await makePartitions(database)
      await makeFirePartitions(database)
      return (await tidy(signal)) ? SOON_MS : EVERY_MS
    },
    tidy,
  }
}

/** Deletes batch by batch, so that no statement takes long. True if more is left than one tick should delete. */
async function forgetMany(
  signal: AbortSignal,
  forget: () => Promise<readonly { readonly forgotten: number }[]>,
): Promise<boolean> {
  for (let batch = 0; batch < MOST_BATCHES && !signal.aborted; batch += 1) {
    const [answer] = await forget()
    if ((answer?.forgotten ?? 0) < BATCH) return false
  }
  return true
}
