/** The calls that read runs: how they are checked, and what they answer. */
import type { Filter } from "../../filter/filter.ts"
import { readFilter } from "../../filter/object.ts"
import { printFilter } from "../../filter/print.ts"
import type { RunFilter } from "../../filter/run-filter.ts"
import { count, type RunCount } from "../../operations/runs/count.ts"
import { type RunCursor, readCursor, writeCursor } from "../../operations/runs/cursor.ts"
import { get } from "../../operations/runs/get.ts"
import { list } from "../../operations/runs/list.ts"
import type { Run } from "../../operations/runs/run.ts"
import { assertOptions, integer, object, optional, satisfies } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { runIdOf } from "../options.ts"

/** Reads about runs in all states. */
export interface Runs {
  /** A run; `undefined` for one that never was, or that history does not know any more. */
  readonly get: (runId: string, options?: CallOptions) => Promise<Run | undefined>
  /**
   * Runs, the newest first, a page at a time.
   *
   * No run is on two pages. Every run that was committed before the first page, and meets the filter when its page is
   * read, is on one of them.
   *
   * @example
   * const { items, nextCursor } = await carillon.runs.list({ filter: { state: "dead", job: "invoice.*" } })
   */
  readonly list: (options?: RunListOptions & CallOptions) => Promise<RunPage>
  /** How many runs there are. More than `upTo` are not counted. */
  readonly count: (options?: RunCountOptions & CallOptions) => Promise<RunCount>
}

/** Which runs are asked for. */
export interface RunListOptions {
  /** Which runs are meant: an object or a text; see the page about filters. All, if it is left out. */
  readonly filter?: RunFilter | string
  /**
   * How many runs a page has at the most: 1 to 1,000.
   *
   * @default 50
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `nextCursor`, given with the same filter. */
  readonly cursor?: string
}

/** A page of runs. */
export interface RunPage {
  /** The newest first. Inputs and results of more than 8 MiB together end a page early. */
  readonly items: readonly Run[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
  /**
   * There if the page ended before it was full: so many rows of each store were looked at for it. The next page goes on
   * behind them.
   */
  readonly searched?: number
}

/** Which runs are counted. */
export interface RunCountOptions {
  /** Which runs are meant: an object or a text. All, if it is left out. */
  readonly filter?: RunFilter | string
  /**
   * Where the count ends: 1 to 1,000,000.
   *
   * @default 10000
   */
  readonly upTo?: number
}

const LIMIT = 50
const MOST = 1_000
const COUNTED = 10_000
const MOST_COUNTED = 1_000_000
/** How many rows of each store a call looks at. PostgreSQL checks so many in one second, or two inside `input`. */
const SEARCHED = 100_000

export const readCalls = {
  get: async ({ runtime }: Opened, runId: string): Promise<Run | undefined> =>
    get(runtime, { id: runIdOf(runId) }),

  list: async ({ runtime }: Opened, options: RunListOptions = {}): Promise<RunPage> => {
    assertOptions("runs.list", options, listCheck)
    const filter = readFilter(options.filter)
    const text = printFilter(filter)
    const { limit = LIMIT } = options
    const cursor = cursorOf(options.cursor, text)
    const { items, next, searched } = await list(runtime, { filter, limit, cursor, budget: SEARCHED })
    return {
      items,
      ...(next && { nextCursor: writeCursor(next, text) }),
      ...(searched !== undefined && { searched }),
    }
  },

  count: async ({ runtime }: Opened, options: RunCountOptions = {}): Promise<RunCount> => {
    assertOptions("runs.count", options, countCheck)
    const filter: Filter = readFilter(options.filter)
    const { upTo = COUNTED } = options
    return count(runtime, { filter, upTo, budget: Math.max(SEARCHED, upTo + 1) })
  },
}

/** What is wrong inside a filter is said by a `FilterError`. */
const filterCheck = satisfies(
  "a filter: an object or a text",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
)

const countCheck = object({
  filter: optional(filterCheck),
  upTo: optional(integer({ min: 1, max: MOST_COUNTED })),
})

const listCheck = object({
  filter: optional(filterCheck),
  limit: optional(integer({ min: 1, max: MOST })),
  cursor: optional(satisfies("the cursor of an earlier page", (value) => typeof value === "string")),
})

function cursorOf(cursor: string | undefined, filter: string): RunCursor | undefined {
  if (cursor === undefined) return undefined
  const read = readCursor(cursor, filter)
  const check = satisfies("the cursor of an earlier page of the same filter", () => read !== undefined)
  assertOptions("runs.list", { cursor }, object({ cursor: check }))
  return read
}
