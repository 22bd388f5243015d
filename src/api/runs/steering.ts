/** The calls that change a run: their checks. */
import { priorityCheck } from "../../job/options.ts"
import { perform } from "../../operations/perform.ts"
import { performIn } from "../../operations/perform-in.ts"
import { type Cancelled, cancel } from "../../operations/runs/cancel.ts"
import { expedite } from "../../operations/runs/expedite.ts"
import { assertOptions, object, optional } from "../../options/check.ts"
import { type ByWhom, byOf, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { type CallerTransaction, txShape } from "../caller-transaction.ts"
import { runIdOf } from "../options.ts"
import type { ExpediteOptions } from "./calls.ts"

const expediteCheck = object({ ...byWhomShape, priority: optional(priorityCheck) })

export const steeringCalls = {
  cancel: async (opened: Opened, runId: string, by: ByWhom & CallerTransaction = {}): Promise<Cancelled> => {
    const id = runIdOf(runId)
    assertOptions("runs.cancel", by, object({ ...byWhomShape, ...txShape }))
    return performIn(opened, by.tx, (runtime) => cancel(runtime, { id, by: byOf(opened, by) }))
  },
  expedite: async (opened: Opened, runId: string, options: ExpediteOptions = {}): Promise<boolean> => {
    const id = runIdOf(runId)
    assertOptions("runs.expedite", options, expediteCheck)
    const request = { id, by: byOf(opened, options), priority: options.priority }
    return perform(opened.engine.tell, expedite(opened.runtime, request))
  },
}
