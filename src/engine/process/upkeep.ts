/**
 * Keeps the house in order: history has a partition for every coming day and the ledger of occurrences one for every
 * month, and what has been kept for long enough goes.
 *
 * Every process does this; what one has done, the others find done.
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
  /** What the first settles need and no more: the rest can wait until the process is at work. */
  readonly prepare: () => Promise<void>
  /** Drops and forgets what has been kept for long enough. Resolves to whether there is more than one call should do. */
  readonly tidy: (signal: AbortSignal) => Promise<boolean>
}

const EVERY_MS = 3_600_000
/** When one tick was not enough. */
const SOON_MS = 1_000
const BATCH = 1_000
const MOST_BATCHES = 100

/** `onFailure` hears of what could not be dropped, and in how many ticks in a row. */
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

/** Forgets batch by batch, so that no statement takes long. Whether there is more than one tick should do. */
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
