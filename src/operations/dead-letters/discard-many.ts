/**
 * Discards the dead letters that meet a filter, newest first, in batches of one statement each.
 *
 * The letters are chosen once, with their generations, so a run that is replayed meanwhile and dies again stays.
 */
import type { By } from "../../engine/by.ts"
import type { TellEffects } from "../../engine/effects.ts"
import type { Filter } from "../../filter/filter.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { perform } from "../perform.ts"
import { chooseAll } from "./choose.ts"
import { discardBatch } from "./discard-batch.ts"

export interface DiscardManyRequest {
  readonly filter: Filter
  readonly limit: number
  readonly by: By
}

export interface DiscardManyParts {
  readonly runtime: Runtime
  readonly tell: TellEffects
  /** Throws if the call is to end. */
  readonly rest: (ms: number) => Promise<void>
}

/** What the discarding of several dead letters did. */
export interface Discarded {
  /** How many were discarded. */
  readonly discarded: number
  /** Whether letters that met the filter are left, because of the limit. */
  readonly more: boolean
}

const BATCH = 100

export async function discardMany(parts: DiscardManyParts, request: DiscardManyRequest): Promise<Discarded> {
  const { runtime, tell, rest } = parts
  const { filter, limit, by } = request
  const { letters: found, isCut } = await chooseAll(runtime.database, { filter, limit })
  let discarded = 0
  for (let from = 0; from < found.length; from += BATCH) {
    await rest(0)
    const letters = found.slice(from, from + BATCH)
    discarded += (await perform(tell, discardBatch(runtime.database, { letters, by }))).length
    await runtime.crashPoint("discard.committed")
  }
  return { discarded, more: isCut }
}
