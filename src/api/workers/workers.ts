/** The calls that read workers: how they are checked, and what they answer. */
import { get } from "../../operations/workers/get.ts"
import { list, type WorkerRecord } from "../../operations/workers/list.ts"
import { assertOptions, object, satisfies } from "../../options/check.ts"
import type { Opened } from "../application.ts"
import type { CallOptions } from "../call-options.ts"
import { cursorAfter, PAGE_LIMIT, type PageOptions, pageShape, writeCursor } from "../page-cursor.ts"

/** Reads about workers. */
export interface Workers {
  /** A live worker, by the id of its lease; `undefined` for one that has stopped, died, or lost this lease. */
  readonly get: (id: string, options?: CallOptions) => Promise<WorkerRecord | undefined>
  /** Every live worker, in the order of the ids, a page at a time. */
  readonly list: (options?: WorkerListOptions & CallOptions) => Promise<WorkerPage>
}

/** Which page of workers is asked for. */
export interface WorkerListOptions extends PageOptions {}

/** A page of workers. */
export interface WorkerPage {
  /** In the order of the ids. */
  readonly items: readonly WorkerRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const idCheck = satisfies("the id of a worker", (value) => typeof value === "string" && ID.test(value))

export const workerCalls = {
  get: async ({ runtime }: Opened, id: string): Promise<WorkerRecord | undefined> => {
    assertOptions("workers.get", { id }, object({ id: idCheck }))
    return get(runtime, { id })
  },
  list: async ({ runtime }: Opened, options: WorkerListOptions = {}): Promise<WorkerPage> => {
    assertOptions("workers.list", options, object(pageShape))
    const { limit = PAGE_LIMIT, cursor } = options
    const after = cursorAfter(cursor)
    const isPlace = satisfies("the cursor of an earlier page", () => after === undefined || ID.test(after))
    assertOptions("workers.list", { cursor }, object({ cursor: isPlace }))
    const { items, next } = await list(runtime, { id: null, after: after ?? null, limit })
    return { items, ...(next !== undefined && { nextCursor: writeCursor([next]) }) }
  },
}
