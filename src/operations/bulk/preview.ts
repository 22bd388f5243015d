/** Says what a bulk operation would do now. Changes nothing. */
import type { Filter } from "../../filter/filter.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { count, type RunCount } from "../runs/count.ts"
import { list } from "../runs/list.ts"
import type { Run } from "../runs/run.ts"
import { actionOf, type BulkAction, type BulkActionOptions, type BulkChange } from "./actions.ts"
import { scopeOf } from "./scope.ts"

export interface PreviewRequest {
  readonly action: BulkAction
  readonly filter: Filter
  readonly options: BulkActionOptions
  /** No more runs than this are counted. */
  readonly upTo: number
  /** How many rows of each store are looked at. */
  readonly budget: number
}

/** What a bulk operation would do now: how many runs it would come to, and what would become of some of them. */
export interface BulkPreview extends RunCount {
  /** The newest ones, up to five. */
  readonly samples: readonly BulkSample[]
}

/** A run, and what the action would change of it. */
export interface BulkSample {
  /** The run as it is. */
  readonly run: Run
  /** What would be different. A running run ends as `cancelled` when its handler has ended. */
  readonly after: BulkChange
}

const SAMPLES = 5

export async function preview(runtime: Runtime, request: PreviewRequest): Promise<BulkPreview> {
  const { action, options, upTo, budget } = request
  const filter = scopeOf(action, request.filter)
  const counted = await count(runtime, { filter, upTo, budget })
  const { items } = await list(runtime, { filter, limit: SAMPLES, cursor: undefined, budget })
  const { after } = actionOf(action)
  return { ...counted, samples: items.map((run) => ({ run, after: after(run, options) })) }
}
