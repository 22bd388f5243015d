/**
 * How a filter is asked of the database: which stores can hold a match, when ended runs ended, and which index leads to
 * them. Nothing here is SQL.
 *
 * A run is in one store at a time: `runs` while it lives, `dead_letters` when it is dead, and `attempts`, which is
 * partitioned by the day of the end, when it has ended.
 */

import type { RunState } from "../queue/run-state.ts"
import { idTime } from "../time/id-time.ts"
import type { FieldName } from "./fields.ts"
import { type Filter, instantOf, type Term } from "./filter.ts"
import { boundOf, EVER, exactOf, intersection, isClosed, isExact, textsOf, type Window } from "./terms.ts"

export const STORES = {
  runs: ["waiting", "parked", "ready", "running"],
  dead_letters: ["dead"],
  attempts: ["succeeded", "cancelled", "expired", "discarded"],
} as const satisfies Record<string, readonly RunState[]>

export type StoreName = keyof typeof STORES

export interface FilterPlan {
  /** The states that are asked of each store. A store with none is not asked. */
  readonly states: Readonly<Record<StoreName, readonly RunState[]>>
  /** When ended runs ended. It chooses the partitions. */
  readonly finished: Window
  readonly way: Way
}

/** The index that leads to the ended runs. By `time` there is none but that of the ids, which is walked. */
export type Way =
  | { readonly by: "id" | "schedule" | "tenant" | "job"; readonly values: readonly string[] }
  | { readonly by: "time" }

/** The clocks of the processes that make ids, and of the servers after a failover, may differ by so much. */
const CLOCK_MARGIN_MS = 2 * 86_400_000

/** Fields that a run has only in these states. */
const ONLY_IN: Partial<Record<FieldName, readonly RunState[]>> = {
  finished: [...STORES.dead_letters, ...STORES.attempts],
  duration: [...STORES.dead_letters, ...STORES.attempts],
  started: ["running", ...STORES.dead_letters, ...STORES.attempts],
  worker: ["running", ...STORES.dead_letters, ...STORES.attempts],
}

/** `nowMs` is the moment that relative times are counted from. */
export function planFilter({ terms }: Filter, nowMs: number): FilterPlan {
  const way = wayOf(terms)
  const finished = windowOf(terms, way, nowMs)
  const all: readonly RunState[] = way ? Object.values(STORES).flat() : []
  const possible = terms.reduce(narrowed, isClosed(finished) ? all.filter(isLive) : all)
  return {
    states: {
      runs: STORES.runs.filter((state) => possible.includes(state)),
      dead_letters: STORES.dead_letters.filter((state) => possible.includes(state)),
      attempts: STORES.attempts.filter((state) => possible.includes(state)),
    },
    finished,
    way: way ?? { by: "time" },
  }
}

/** Can no run match? */
export function isImpossible({ states }: FilterPlan): boolean {
  return Object.values(states).every((asked) => asked.length === 0)
}

function narrowed(states: readonly RunState[], term: Term): readonly RunState[] {
  const { field, not, test } = term
  if (field === "state" && test.is === "words") {
    return states.filter((state) => test.any.some(({ text }) => text === state) !== not)
  }
  const only = not ? undefined : ONLY_IN[field]
  return only ? states.filter((state) => only.includes(state)) : states
}

/** The most selective index first. `undefined` if no value satisfies all terms of a field. */
function wayOf(terms: readonly Term[]): Way | undefined {
  // A schedule has a name and an id, so two terms can hold that have no word in common.
  const schedule = terms.find((term) => term.field === "schedule" && isExact(term))
  const values = {
    id: exactOf(terms, "id"),
    schedule: schedule && textsOf(schedule),
    tenant: exactOf(terms, "tenant"),
    job: exactOf(terms, "job"),
  }
  if (Object.values(values).some((each) => each?.length === 0)) return undefined
  for (const by of ["id", "schedule", "tenant", "job"] as const) {
    const found = values[by]
    if (found) return { by, values: found }
  }
  return { by: "time" }
}

/** No run ends before it was enqueued or started, nor before the time in its id. */
function windowOf(terms: readonly Term[], way: Way | undefined, nowMs: number): Window {
  const windows = terms.map((term): Window => {
    if (term.test.is !== "time") return EVER
    const own = boundOf(term.test.by, instantOf(term.test.value, nowMs), term.not)
    if (term.field === "finished") return own
    const isEarlier = ["enqueued", "started"].includes(term.field) && !term.not
    return isEarlier && own.fromMs !== undefined ? { fromMs: own.fromMs - CLOCK_MARGIN_MS } : EVER
  })
  const ids = way?.by === "id" ? way.values.map((id) => idTime(id)) : []
  if (ids.length > 0) windows.push({ fromMs: Math.max(0, Math.min(...ids) - CLOCK_MARGIN_MS) })
  return windows.reduce(intersection, EVER)
}

/** The window is of ends: it says nothing of a run that lives. */
function isLive(state: RunState): boolean {
  return (STORES.runs as readonly RunState[]).includes(state)
}
