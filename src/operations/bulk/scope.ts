/** Which runs a bulk operation is for: those that meet its filter, in a state in which its action changes them. */
import { type Filter, filterOf, type Term } from "../../filter/filter.ts"
import { parsePrinted } from "../../filter/parse.ts"
import type { Runner } from "../../store/database.ts"
import { listRunsById } from "../../store/runs/list-by-id.ts"
import type { InstantMs } from "../../time/instant.ts"
import { listedBy } from "../runs/list.ts"
import { type MergedPage, mergePage } from "../runs/page.ts"
import { type Reading, readingOf, routeOf } from "../runs/reading.ts"
import { actionOf, type BulkAction } from "./actions.ts"

/** Higher than every id. */
const TOP = "ffffffff-ffff-ffff-ffff-ffffffffffff"
/** How many rows of each store a batch looks at, so that its transaction is short. */
const BUDGET = 10_000

/** The filter, and the states of the action. */
export function scopeOf(action: BulkAction, filter: Filter): Filter {
  const any = actionOf(action).states.map((text) => ({ text, isPrefix: false }))
  return filterOf([...filter.terms, { field: "state", not: false, test: { is: "words", any } }])
}

export interface StartedBulk {
  readonly action: string
  readonly filter: string
  readonly started_at: InstantMs
}

/** Runs that were enqueued after the start are none of its business, and neither is what it has replayed itself. */
export function readingOfBulk({ action, filter, started_at: startedAtMs }: StartedBulk): Reading {
  const { terms } = scopeOf(action as BulkAction, parsePrinted(filter))
  const before: Term = {
    ...{ field: "enqueued", not: false },
    test: { is: "time", by: "<=", value: { at: startedAtMs } },
  }
  return readingOf(filterOf([...terms, before]), startedAtMs)
}

/** The next runs of the operation, newest first, from below an id. */
export async function chooseRuns(
  runner: Runner,
  { reading, below, limit }: { readonly reading: Reading; readonly below: string; readonly limit: number },
): Promise<MergedPage> {
  const params = { ...reading.params, below, budget: BigInt(BUDGET), limit: limit + 1 }
  return mergePage(await listedBy(runner, await routeOf(runner, reading), params), limit)
}

/** Those among `ids` that meet the filter now. */
export async function stillMet(runner: Runner, reading: Reading, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const all = { below: TOP, budget: BigInt(ids.length), limit: ids.length }
  const rows = await runner.run(listRunsById, { ...reading.params, ...all, ids })
  const met = new Set(rows.flatMap(({ id, is_met: isMet }) => (isMet ? id : [])))
  return ids.filter((id) => met.has(id))
}
