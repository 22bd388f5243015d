/** Bulk operations: started, paused, resumed and aborted at random, and compared with the audit at the end. */
import { CarillonError } from "../../../src/errors.ts"
import type { BulkOperation } from "../../../src/operations/bulk/record.ts"
import type { Life } from "../world/process.ts"
import { describe, isUnexpected } from "../world/unexpected-errors.ts"

export interface BulkParts {
  /** No more operations are started. */
  readonly isOver: () => boolean
  readonly onTrouble: (says: string) => void
}

const FILTERS = ["job:plain,limited,side", "priority>=0", "-job:timed enqueued>-3s", "error:* attempt>1"]

/** Starts operations for as long as the process lives. Each has an actor of its own, by which the audit knows it. */
export async function steerInBulk(life: Life, { isOver, onTrouble }: BulkParts): Promise<void> {
  const { host, carillon } = life
  const chance = life.chance.fork("bulk")
  while (life.isAlive()) {
    await host.sleep(chance.skewed(100, 3_000))
    if (isOver()) return
    try {
      const { id } = await carillon.bulk.start({
        // Cancels are recorded, run by run, before they are sent.
        action: chance.pick(["expedite", "replay", "replay", "discard"] as const),
        filter: chance.pick(FILTERS),
        actor: `bulk ${host.newId()}`,
        ...(chance.happens(0.5) && { pace: chance.pick(["5/s", "40/s"]) }),
      })
      if (chance.happens(0.6)) continue
      await host.sleep(chance.skewed(1, 1_000))
      await carillon.bulk.pause(id)
      await host.sleep(chance.skewed(1, 1_000))
      await (chance.happens(0.7) ? carillon.bulk.resume(id) : carillon.bulk.abort(id))
    } catch (error) {
      const code = error instanceof CarillonError ? error.code : undefined
      if (code === "CLOSED") return
      if (code !== "BULK_ENDED" && isUnexpected(error)) onTrouble(`a bulk operation: ${describe(error)}`)
    }
  }
}

export interface SettlingParts {
  readonly until: (isSo: () => boolean, withinUs: number, otherwise: () => string) => Promise<void>
  readonly withinUs: number
  readonly onTrouble: (says: string) => void
}

/** Operations that are not paused have to end by themselves, and the audit has to say what they say. */
export async function settleBulk(life: Life | undefined, parts: SettlingParts): Promise<void> {
  if (!life) return
  const { until, withinUs, onTrouble } = parts
  let faults: readonly string[] = ["bulk operations are not read"]
  const look = () => {
    void faultsOfBulk(life).then(
      (found) => {
        faults = found
      },
      (error: unknown) => onTrouble(`bulk operations cannot be read: ${describe(error)}`),
    )
    return faults.length === 0
  }
  await until(look, withinUs, () => faults.join("; "))
}

async function faultsOfBulk({ carillon }: Life): Promise<string[]> {
  const { items } = await carillon.bulk.list({ limit: 1_000 })
  const faults = await Promise.all(items.map((operation) => faultsOf(operation, carillon)))
  return faults.flat()
}

async function faultsOf(operation: BulkOperation, carillon: Life["carillon"]): Promise<string[]> {
  const { id, action, actor, state, progress } = operation
  const { items } = await carillon.audit.list({ actor, action: `run.${action}`, limit: 1_000 })
  const runs = new Set(items.map(({ subject }) => subject))
  const name = `bulk operation ${id} (${action})`
  return [
    ...(state === "running" ? [`${name} is not carried on`] : []),
    ...(items.length === progress.done
      ? []
      : [`${name} counts ${progress.done} runs, changed ${items.length}`]),
    ...(runs.size === items.length ? [] : [`${name} changed a run twice`]),
  ]
}
