/** The calls about bulk operations: how they are checked, and what they answer. */
import { OptionsError } from "../../errors.ts"
import type { Filter } from "../../filter/filter.ts"
import { readFilter } from "../../filter/object.ts"
import { isImpossible, planFilter } from "../../filter/plan.ts"
import { printFilter } from "../../filter/print.ts"
import { priorityCheck } from "../../job/options.ts"
import { ACTION_NAMES, actionOf, type BulkActionOptions } from "../../operations/bulk/actions.ts"
import { get } from "../../operations/bulk/get.ts"
import { list } from "../../operations/bulk/list.ts"
import { type BulkPreview, preview } from "../../operations/bulk/preview.ts"
import type { BulkOperation } from "../../operations/bulk/record.ts"
import { scopeOf } from "../../operations/bulk/scope.ts"
import { start } from "../../operations/bulk/start.ts"
import { type BulkVerb, steer } from "../../operations/bulk/steer.ts"
import { perform } from "../../operations/perform.ts"
import { assertOptions, integer, object, oneOf, optional, satisfies } from "../../options/check.ts"
import { parseRate } from "../../time/rate.ts"
import { type ByWhom, byOf, byWhomCheck, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { cursorAfter, PAGE_LIMIT, pageShape, writeCursor } from "../page-cursor.ts"
import type { BulkListOptions, BulkPage, BulkPreviewOptions, BulkRequest, BulkStartOptions } from "./calls.ts"

const COUNTED = 10_000
const MOST_COUNTED = 1_000_000
/** How many rows of each store a preview looks at. */
const SEARCHED = 100_000

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const idCheck = object({
  id: satisfies("the id of a bulk operation", (value) => typeof value === "string" && ID.test(value)),
})

const requestShape = {
  action: oneOf(...ACTION_NAMES),
  filter: satisfies(
    "a filter: an object or a text",
    (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  ),
  priority: optional(priorityCheck),
}

const previewCheck = object({ ...requestShape, upTo: optional(integer({ min: 1, max: MOST_COUNTED })) })

const startCheck = object({
  ...requestShape,
  ...byWhomShape,
  pace: optional(
    satisfies('a text like "50/s", "600/m" or "1000/h"', (value) => parseRate(value) !== undefined),
  ),
})

const listCheck = object({
  ...pageShape,
  state: optional(oneOf("running", "paused", "aborted", "done")),
})

export const bulkCalls = {
  preview: async ({ runtime }: Opened, options: BulkPreviewOptions): Promise<BulkPreview> => {
    const call = "bulk.preview"
    assertOptions(call, options, previewCheck)
    const { action, upTo = COUNTED } = options
    const filter = filterOf(call, options)
    return preview(runtime, {
      ...{ action, filter, options: optionsOf(call, options) },
      ...{ upTo, budget: Math.max(SEARCHED, upTo + 1) },
    })
  },

  start: async (opened: Opened, options: BulkStartOptions): Promise<BulkOperation> => {
    const call = "bulk.start"
    assertOptions(call, options, startCheck)
    const { action, pace } = options
    const filter = printFilter(filterOf(call, options))
    const request = { action, filter, pace, options: optionsOf(call, options), by: byOf(opened, options) }
    return perform(opened.engine.tell, start(opened.runtime, request))
  },

  get: async ({ runtime }: Opened, id: string): Promise<BulkOperation | undefined> => {
    assertOptions("bulk.get", { id }, idCheck)
    return get(runtime, { id })
  },

  list: async ({ runtime }: Opened, options: BulkListOptions = {}): Promise<BulkPage> => {
    assertOptions("bulk.list", options, listCheck)
    const { state, limit = PAGE_LIMIT } = options
    const below = cursorAfter(options.cursor)
    const isPlace = satisfies("the cursor of an earlier page", () => below === undefined || ID.test(below))
    assertOptions("bulk.list", { cursor: options.cursor }, object({ cursor: isPlace }))
    const { items, next } = await list(runtime, { state, limit, below })
    return { items, ...(next !== undefined && { nextCursor: writeCursor([next]) }) }
  },

  pause: steering("pause"),
  resume: steering("resume"),
  abort: steering("abort"),
}

function steering(verb: BulkVerb) {
  return async (opened: Opened, id: string, by: ByWhom = {}): Promise<BulkOperation> => {
    assertOptions(`bulk.${verb}`, { id }, idCheck)
    assertOptions(`bulk.${verb}`, by, byWhomCheck)
    return perform(opened.engine.tell, steer(opened.runtime, { id, verb, by: byOf(opened, by) }))
  }
}

/** A filter that means every run, or none that the action changes, is a mistake. */
function filterOf(call: string, { action, filter: given }: BulkRequest): Filter {
  const filter = readFilter(given)
  if (filter.terms.length === 0) {
    throw new OptionsError(call, [
      { path: "filter", message: "means every run: give one condition at least, such as `job:` or `state:`" },
    ])
  }
  if (isImpossible(planFilter(scopeOf(action, filter), 0))) {
    const states = actionOf(action).states.join(", ")
    throw new OptionsError(call, [
      { path: "filter", message: `means no run that "${action}" changes: it is for runs that are ${states}` },
    ])
  }
  return filter
}

/** The options of the action; those of other actions are refused. */
function optionsOf(call: string, { action, priority }: BulkRequest): BulkActionOptions {
  const given: BulkActionOptions = { ...(priority !== undefined && { priority }) }
  const { takes } = actionOf(action)
  const wrong = Object.keys(given).filter((name) => !takes.some((taken) => taken === name))
  if (wrong.length > 0) {
    throw new OptionsError(
      call,
      wrong.map((path) => ({ path, message: `"${action}" does not take it` })),
    )
  }
  return given
}
