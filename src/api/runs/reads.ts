/** The calls that read runs: how they are checked, and what they answer. */
import { type Filter, filterOf } from "../../filter/filter.ts"
import { readFilter } from "../../filter/object.ts"
import { printFilter } from "../../filter/print.ts"
import { count, type RunCount } from "../../operations/runs/count.ts"
import { type RunCursor, readCursor, writeCursor } from "../../operations/runs/cursor.ts"
import { get } from "../../operations/runs/get.ts"
import { list } from "../../operations/runs/list.ts"
import type { Run } from "../../operations/runs/run.ts"
import { assertOptions, integer, object, optional, satisfies } from "../../options/check.ts"
import { listAttempts } from "../../store/attempts/by-run.ts"
import type { Opened } from "../application.ts"
import { runIdOf } from "../options.ts"
import { type AttemptLogs, type AttemptRecord, attemptRecords } from "./attempt-record.ts"
import type { RunCountOptions, RunListOptions, RunPage } from "./calls.ts"
import { shortText, TENANT_LENGTH } from "./enqueue-options.ts"

const LIMIT = 50
const MOST = 1_000
const COUNTED = 10_000
const MOST_COUNTED = 1_000_000
/** How many rows of each store a page looks at. PostgreSQL checks so many in 50 ms, or in 120 ms inside `input`. */
const SEARCHED = 10_000
/** The same for a count, which is asked once where a list is asked page by page. */
const SEARCHED_TO_COUNT = 30_000

export const readCalls = {
  get: async ({ runtime }: Opened, runId: string): Promise<Run | undefined> =>
    get(runtime, { id: runIdOf(runId) }),

  list: async ({ runtime }: Opened, options: RunListOptions = {}): Promise<RunPage> => {
    assertOptions("runs.list", options, listCheck)
    const filter = filterFrom(options)
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
    const filter = filterFrom(options)
    const { upTo = COUNTED } = options
    return count(runtime, { filter, upTo, budget: Math.max(SEARCHED_TO_COUNT, upTo + 1) })
  },

  attempts: async ({ runtime: { database } }: Opened, runId: string): Promise<AttemptRecord[]> =>
    attemptRecords(database, await listAttempts(database, runIdOf(runId))),

  logs: async (opened: Opened, runId: string): Promise<AttemptLogs[]> => {
    const attempts = await readCalls.attempts(opened, runId)
    return attempts.flatMap(({ id: attemptId, generation, attempt, startedAt, logs: lines }) =>
      lines ? { attemptId, generation, attempt, ...(startedAt && { startedAt }), lines } : [],
    )
  },
}

/** What is wrong inside a filter is said by a `FilterError`. */
const filterCheck = satisfies(
  "a filter: an object or a text",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
)

/** The filter and the tenant: both have to hold, so no filter leads to another tenant. */
function filterFrom({ filter, tenant }: Pick<RunListOptions, "filter" | "tenant">): Filter {
  const { terms } = readFilter(filter)
  if (tenant === undefined) return filterOf(terms)
  const test = { is: "words", any: [{ text: tenant, isPrefix: false }] } as const
  return filterOf([...terms, { field: "tenant", not: false, test }])
}

const countCheck = object({
  filter: optional(filterCheck),
  tenant: optional(shortText(TENANT_LENGTH)),
  upTo: optional(integer({ min: 1, max: MOST_COUNTED })),
})

const listCheck = object({
  filter: optional(filterCheck),
  tenant: optional(shortText(TENANT_LENGTH)),
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
