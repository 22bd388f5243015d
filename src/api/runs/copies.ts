/** The calls that make a new run from another one: their checks, and the handles that they return. */

import { DEFAULTS } from "../../defaults.ts"
import type { OperationResult } from "../../engine/effects.ts"
import { newRun } from "../../engine/enqueue/new-run.ts"
import { encodePayload } from "../../job/payload.ts"
import { enqueueSettings } from "../../operations/jobs/enqueue-settings.ts"
import { perform } from "../../operations/perform.ts"
import { clone } from "../../operations/runs/clone.ts"
import type { CopyParts, CopyRequest } from "../../operations/runs/copied.ts"
import type { EnqueueAnswers } from "../../operations/runs/enqueued.ts"
import { get } from "../../operations/runs/get.ts"
import { rerun } from "../../operations/runs/rerun.ts"
import { unknownRun } from "../../operations/runs/unknown-run.ts"
import { assertOptions } from "../../options/check.ts"
import { type ByWhom, byOf, byWhomCheck } from "../actor.ts"
import type { Opened } from "../application.ts"
import { runIdOf } from "../options.ts"
import type { RerunOptions } from "./calls.ts"
import { encodedInput } from "./encoded-input.ts"
import { type CloneChanges, resolveClone } from "./enqueue-options.ts"
import { createRunHandle, type RunHandle } from "./run-handle.ts"

export const copyCalls = {
  rerun: async (
    opened: Opened,
    runId: string,
    { concurrencyKey, ...by }: RerunOptions = {},
  ): Promise<RunHandle<unknown>> =>
    copy(opened, runId, { changes: concurrencyKey === undefined ? {} : { concurrencyKey }, by, make: rerun }),

  clone: async (
    opened: Opened,
    runId: string,
    changes: CloneChanges = {},
    by: ByWhom = {},
  ): Promise<RunHandle<unknown>> => copy(opened, runId, { changes, by, make: clone }),
}

interface Copy {
  readonly changes: CloneChanges
  readonly by: ByWhom
  readonly make: (parts: CopyParts, request: CopyRequest) => Promise<OperationResult<EnqueueAnswers>>
}

async function copy(opened: Opened, runId: string, { changes, by, make }: Copy): Promise<RunHandle<unknown>> {
  const id = runIdOf(runId)
  assertOptions(`runs.${make.name}`, by, byWhomCheck)
  resolveClone(changes, true)
  const { runtime, engine } = opened
  const original = await get(runtime, { id })
  if (!original) throw unknownRun(id)
  const job = await enqueueSettings(opened, { name: original.job })
  const settings = resolveClone(changes, job.concurrency !== null)
  const input =
    changes.input === undefined
      ? encodePayload(original.input, "input", DEFAULTS.inputBytes)
      : await encodedInput(opened, original.job, changes.input)
  const run = newRun(settings, runtime.newId(), input)
  const request = { original, job, run, by: byOf(opened, by) }
  const [made] = await perform(engine.tell, make(opened, request))
  return createRunHandle(engine.results, made ?? { id: run.id, created: true })
}
