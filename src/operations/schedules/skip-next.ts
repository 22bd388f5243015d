/** Skips the next occurrence of a schedule. */
import type { OperationResult } from "../../engine/effects.ts"
import { change } from "../../engine/schedules/change.ts"
import { scheduledOf } from "../../engine/schedules/decisions.ts"
import { assertCan } from "../../engine/schedules/refusals.ts"
import { nextOf, passing } from "../../engine/schedules/settle-due.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Stretch } from "../../schedule/decide.ts"
import type { InstantMs } from "../../time/instant.ts"
import type { WhichSchedule } from "./which.ts"

/** The answer is the skipped occurrence. `undefined` if there is none. */
export async function skipNext(
  runtime: Runtime,
  { name, tenant, by }: WhichSchedule,
): Promise<OperationResult<InstantMs | undefined>> {
  let skipped: InstantMs | undefined
  const { effects } = await change(runtime, { name, tenant, by, action: "schedule.skipNext" }, (row) => {
    assertCan(row, "skip", "skipNext")
    const { next_occurrence: at } = row
    skipped = at ?? undefined
    if (at === null) return undefined
    const span = { first: at, last: at, count: 1 }
    const stretch: Stretch = { outcome: "skipped", reason: "request", ...span, into: undefined }
    const next = nextOf(row, at)
    const state = next ? "active" : "completed"
    const decided = [{ row, decision: passing(stretch), scheduled: scheduledOf(row) }]
    return { row: { ...row, state }, cursor: at, next, decided }
  })
  return { answer: skipped, effects }
}
