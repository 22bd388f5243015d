/** The calls that change a run: their checks. */
import { poolNameCheck, priorityCheck } from "../../job/options.ts"
import { perform } from "../../operations/perform.ts"
import { performIn } from "../../operations/perform-in.ts"
import { type Cancelled, cancel } from "../../operations/runs/cancel.ts"
import { delay } from "../../operations/runs/delay.ts"
import { edit } from "../../operations/runs/edit.ts"
import { expedite } from "../../operations/runs/expedite.ts"
import { get } from "../../operations/runs/get.ts"
import { move } from "../../operations/runs/move.ts"
import { unknownRun } from "../../operations/runs/unknown-run.ts"
import { assertOptions, duration, expected, isPlainObject, object, optional } from "../../options/check.ts"
import { type Duration, parseDuration } from "../../time/duration.ts"
import { isDate } from "../../time/instant.ts"
import { type ByWhom, byOf, byWhomCheck, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { type CallerTransaction, txShape } from "../caller-transaction.ts"
import { instantCheck } from "../instant-check.ts"
import { runIdOf } from "../options.ts"
import type { ExpediteOptions, RunEdit } from "./calls.ts"
import { encodedInput } from "./encoded-input.ts"
import { tagsCheck } from "./enqueue-options.ts"

const expediteCheck = object({ ...byWhomShape, priority: optional(priorityCheck) })
const editShape = object({ priority: optional(priorityCheck), tags: optional(tagsCheck), input: () => [] })

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
  delay: async (opened: Opened, runId: string, until: Date | Duration, by: ByWhom = {}): Promise<void> => {
    const id = runIdOf(runId)
    const check = object({ until: isDate(until) ? instantCheck : duration({ min: 1 }) })
    assertOptions("runs.delay", { until }, check)
    assertOptions("runs.delay", by, byWhomCheck)
    const moment = isDate(until) ? { atMs: until.getTime() } : { byMs: parseDuration(until) ?? 0 }
    return perform(opened.engine.tell, delay(opened.runtime, { id, until: moment, by: byOf(opened, by) }))
  },
  move: async (opened: Opened, runId: string, pool: string, by: ByWhom = {}): Promise<void> => {
    const id = runIdOf(runId)
    assertOptions("runs.move", { pool }, object({ pool: poolNameCheck }))
    assertOptions("runs.move", by, byWhomCheck)
    return perform(opened.engine.tell, move(opened, { id, pool, by: byOf(opened, by) }))
  },
  edit: async (opened: Opened, runId: string, given: RunEdit, by: ByWhom = {}): Promise<void> => {
    const id = runIdOf(runId)
    assertOptions("runs.edit", given, (value, path) =>
      isPlainObject(value) && Object.keys(value).length === 0
        ? [expected("`priority`, `tags` or `input`", undefined, path || "edit")]
        : editShape(value, path),
    )
    assertOptions("runs.edit", by, byWhomCheck)
    const { input, ...edits } = given
    const encoded = input === undefined ? {} : { input: await inputOf(opened, id, input) }
    const request = { id, edits: { ...edits, ...encoded }, by: byOf(opened, by) }
    return perform(opened.engine.tell, edit(opened.runtime, request))
  },
}

async function inputOf(opened: Opened, id: string, input: unknown): Promise<string> {
  const run = await get(opened.runtime, { id })
  if (!run) throw unknownRun(id)
  return encodedInput(opened, run.job, input)
}
