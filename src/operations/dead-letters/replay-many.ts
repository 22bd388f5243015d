/**
 * Replays the dead letters that meet a filter, newest first, in batches of one statement each.
 *
 * The letters are chosen once, with their generations. A run that dies again meanwhile has a later generation, and the
 * same call does not replay it twice. After a crash, another call goes on with the letters that are left.
 */
import type { By } from "../../engine/by.ts"
import type { TellEffects } from "../../engine/effects.ts"
import type { Filter } from "../../filter/filter.ts"
import { paceOf } from "../../queue/pace.ts"
import type { FinalState } from "../../queue/run-state.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { perform } from "../perform.ts"
import { chooseAll } from "./choose.ts"
import { type LetterChoice, replayBatch } from "./replay-batch.ts"

export interface ReplayManyRequest {
  readonly filter: Filter
  readonly limit: number
  readonly isCanaryFirst: boolean
  /** How many a second; `undefined` for as fast as it goes. */
  readonly perSecond: number | undefined
  readonly by: By
}

export interface ReplayManyParts {
  readonly runtime: Runtime
  readonly tell: TellEffects
  /** Waits for the end of a run. */
  readonly endOf: (run: string) => Promise<FinalState>
  /** Rests, and throws if the call is to end. */
  readonly rest: (ms: number) => Promise<void>
}

/** What the replay of several dead letters did. */
export interface Replayed {
  /** How many were replayed. */
  readonly replayed: number
  /** The run that went first, and how it ended. If it did not succeed, no other one was replayed. */
  readonly canary?: { readonly run: string; readonly state: FinalState }
  /** Whether letters that met the filter are left, because of the limit or of the canary. */
  readonly more: boolean
}

export async function replayMany(parts: ReplayManyParts, request: ReplayManyRequest): Promise<Replayed> {
  const { filter, limit, isCanaryFirst, perSecond } = request
  const { letters, isCut } = await chooseAll(parts.runtime.database, { filter, limit })
  const canary = isCanaryFirst ? await replayCanary(parts, request, letters) : undefined
  const rest = letters.slice(canary?.taken ?? 0)
  const told = canary?.run && { canary: { run: canary.run, state: canary.state } }
  if (told && told.canary.state !== "succeeded") {
    return { replayed: 1, ...told, more: isCut || rest.length > 0 }
  }
  let replayed = told ? 1 : 0
  const { batch, restMs } = paceOf(perSecond)
  for (let from = 0; from < rest.length; from += batch) {
    if (from > 0) await parts.rest(restMs(batch))
    const some = rest.slice(from, from + batch)
    replayed += (await replaySome(parts, request, some)).length
    await parts.runtime.crashPoint("replay.committed")
  }
  return { replayed, ...told, more: isCut }
}

/** Replays the first letter that is still there, and waits for the end of its run. */
async function replayCanary(
  parts: ReplayManyParts,
  request: ReplayManyRequest,
  letters: readonly LetterChoice[],
) {
  for (const [index, letter] of letters.entries()) {
    const [run] = await replaySome(parts, request, [letter])
    if (run !== undefined) return { run, state: await parts.endOf(run), taken: index + 1 }
  }
  return undefined
}

function replaySome(
  { runtime, tell }: ReplayManyParts,
  { by }: ReplayManyRequest,
  letters: readonly LetterChoice[],
): Promise<string[]> {
  return perform(tell, replayBatch(runtime.database, { letters, by }))
}
