/**
 * Makes the coming partitions of history and of the ledger of occurrences, rolls statistics up, and deletes what has
 * been kept for long enough.
 *
 * Every process does this. Work that one process has done, the others find done.
 */
import { DEFAULTS } from "../../defaults.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { MOST_TENANTS } from "../../stats/busiest.ts"
import { storedSteps } from "../../stats/step.ts"
import { makePartitions } from "../../store/attempts/partitions.ts"
import { dropExpired } from "../../store/attempts/retention.ts"
import { forgetAudit } from "../../store/audit/forget.ts"
import { forgetBulk } from "../../store/bulk/forget.ts"
import { makeFirePartitions } from "../../store/fires/partitions.ts"
import { dropExpiredMonths } from "../../store/fires/retention.ts"
import { forgetKeys } from "../../store/keys/forget.ts"
import { forgetWaves } from "../../store/limits/forget-waves.ts"
import { forgetStats } from "../../store/stats/forget.ts"
import { forgetDepths } from "../../store/stats/forget-depths.ts"
import { rollUpStats } from "../../store/stats/roll-up.ts"
import { createBell, type Loop } from "../loop.ts"

export interface Upkeep extends Loop {
  /** Makes only what the first settles need. The rest can wait until the process is at work. */
  readonly prepare: () => Promise<void>
  /** Deletes what has been kept for long enough. Resolves to true if more is left than one call should delete. */
  readonly tidy: (signal: AbortSignal) => Promise<boolean>
}

/** Statistics by tenant are many more rows than those of all tenants together, and are kept for less long. */
const STATS_KEPT = [
  { scope: "", minutesMs: DEFAULTS.statsMs, hoursMs: DEFAULTS.statsHoursMs },
  { scope: "_by_tenant", minutesMs: DEFAULTS.tenantStatsMs, hoursMs: DEFAULTS.tenantStatsHoursMs },
] as const

const EVERY_MS = 3_600_000
/** The rest when one tick was not enough. */
const SOON_MS = 1_000
const BATCH = 1_000
const MOST_BATCHES = 100
/** Parts become minutes and hours this long after the end of their hour, when no process writes them any more. */
const ROLL_UP_AFTER_MS = 7_200_000
const ROLL_UP_BATCH = 10_000

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

  async function tidyStats(signal: AbortSignal): Promise<boolean[]> {
    const unfinished: boolean[] = []
    for (const { scope, minutesMs, hoursMs } of STATS_KEPT) {
      const steps = storedSteps(scope)
      const rollUp = { ...steps, tenants: MOST_TENANTS, afterMs: ROLL_UP_AFTER_MS, limit: ROLL_UP_BATCH }
      unfinished.push(
        await forgetMany(signal, () => database.run(rollUpStats, rollUp), ROLL_UP_BATCH),
        await forget(forgetStats, steps.minutes, minutesMs),
        await forget(forgetStats, steps.hours, hoursMs),
      )
    }
    unfinished.push(
      await forget(forgetDepths, "minute", DEFAULTS.statsMs),
      await forget(forgetDepths, "hour", DEFAULTS.statsHoursMs),
    )
    return unfinished

    function forget(expired: typeof forgetStats, step: string, keepMs: number): Promise<boolean> {
      return forgetMany(signal, () => database.run(expired, { step, keepMs, limit: BATCH }))
    }
  }

  async function tidy(signal: AbortSignal): Promise<boolean> {
    const unfinished = [
      await dropPartitions(),
      await forgetMany(signal, () => database.run(forgetKeys, { limit: BATCH })),
      await forgetMany(signal, () => database.run(forgetWaves, { idleMs: EVERY_MS, limit: BATCH })),
      await forgetMany(signal, () => database.run(forgetAudit, { keepMs: DEFAULTS.auditMs, limit: BATCH })),
      await forgetMany(signal, () => database.run(forgetBulk, { keepMs: DEFAULTS.auditMs, limit: BATCH })),
      ...(await tidyStats(signal)),
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
  most = BATCH,
): Promise<boolean> {
  for (let batch = 0; batch < MOST_BATCHES && !signal.aborted; batch += 1) {
    const [answer] = await forget()
    if ((answer?.forgotten ?? 0) < most) return false
  }
  return true
}
