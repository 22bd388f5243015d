/** Chooses the dead letters that meet a filter, newest first. */
import { type Filter, filterOf } from "../../filter/filter.ts"
import { isImpossible } from "../../filter/plan.ts"
import { exactOf } from "../../filter/terms.ts"
import type { Database } from "../../store/database.ts"
import {
  type LetterEntry,
  type LetterPlace,
  type WalkedLetter,
  walkLetters,
} from "../../store/dead-letters/choose.ts"
import type { InstantMs } from "../../time/instant.ts"
import { clockOf } from "../runs/list.ts"
import { readingOf } from "../runs/reading.ts"

export interface LetterRequest {
  readonly filter: Filter
  /** The moment that relative times are counted from. `undefined` for now. */
  readonly nowMs: InstantMs | undefined
  readonly below: LetterPlace | undefined
  /** How many letters are looked at. */
  readonly budget: number
  readonly limit: number
}

export interface ChosenLetters {
  /** At most `limit`, all of which meet the filter. */
  readonly letters: readonly WalkedLetter[]
  /** Below it there may be more. `undefined` if there are none. */
  readonly rest: LetterPlace | undefined
  /** The walk came to the end of its budget before there were enough. */
  readonly isSearched: boolean
  readonly nowMs: InstantMs
}

/** How many letters a walk looks at when it goes on until it has enough. */
const BUDGET = 100_000

export async function chooseLetters(database: Database, request: LetterRequest): Promise<ChosenLetters> {
  const { below, budget, limit } = request
  const nowMs = request.nowMs ?? (await clockOf(database))
  const filter = deadOf(request.filter)
  const { plan, params: conditions } = readingOf(filter, nowMs)
  if (isImpossible(plan)) return { letters: [], rest: undefined, isSearched: false, nowMs }
  const query = { entry: entryOf(filter), conditions, below, budget }
  const rows = await walkLetters(database, { ...query, limit: limit + 1 })
  const met = rows.filter(({ is_met: isMet }) => isMet)
  const isFull = met.length > limit
  const floor = rows.find(({ is_floor: isFloor }) => isFloor)
  return {
    letters: met.slice(0, limit),
    rest: isFull ? met[limit - 1] : floor,
    isSearched: !isFull && floor !== undefined,
    nowMs,
  }
}

/** The newest ones, and whether there are more, however far the walk leads. */
export async function chooseAll(
  database: Database,
  { filter, limit }: { readonly filter: Filter; readonly limit: number },
): Promise<{ readonly letters: readonly WalkedLetter[]; readonly isCut: boolean }> {
  const letters: WalkedLetter[] = []
  let from: { readonly below: LetterPlace | undefined; readonly nowMs: InstantMs | undefined } = {
    ...{ below: undefined, nowMs: undefined },
  }
  do {
    const wanted = limit + 1 - letters.length
    const some = await chooseLetters(database, { filter, ...from, budget: BUDGET, limit: wanted })
    letters.push(...some.letters)
    from = { below: some.rest, nowMs: some.nowMs }
  } while (from.below !== undefined && letters.length <= limit)
  return { letters: letters.slice(0, limit), isCut: letters.length > limit }
}

/** Only dead runs have a letter. */
function deadOf({ terms }: Filter): Filter {
  const dead = { is: "words", any: [{ text: "dead", isPrefix: false }] } as const
  return filterOf([...terms, { field: "state", not: false, test: dead }])
}

function entryOf({ terms }: Filter): LetterEntry {
  const only = (field: "job" | "fingerprint" | "tenant") => {
    const [value, ...others] = exactOf(terms, field) ?? []
    return others.length === 0 ? value : undefined
  }
  return { job: only("job"), fingerprint: only("fingerprint"), tenant: only("tenant") }
}
