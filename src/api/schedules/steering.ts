/** The calls that steer a schedule: their checks and their answers. */
import type { OperationResult } from "../../engine/effects.ts"
import { performIn } from "../../operations/perform-in.ts"
import { cancelSchedule } from "../../operations/schedules/cancel.ts"
import { deleteSchedule } from "../../operations/schedules/delete.ts"
import { pauseSchedule } from "../../operations/schedules/pause.ts"
import { resumeSchedule } from "../../operations/schedules/resume.ts"
import { runScheduleByHand } from "../../operations/schedules/run-now.ts"
import { skipNext } from "../../operations/schedules/skip-next.ts"
import type { WhichSchedule } from "../../operations/schedules/which.ts"
import { type Check, oneOf, optional, satisfies } from "../../options/check.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { isDate, toDate } from "../../time/instant.ts"
import { type ByWhom, byOf, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { type CallerTransaction, txShape } from "../caller-transaction.ts"
import { LAST_INSTANT_MS } from "../runs/enqueue-options.ts"
import type { CancelBy, OfTenant, PauseBy, ResumeBy, RunNow, RunNowBy } from "./calls.ts"
import { yesOrNo } from "./options.ts"
import { assertNamed } from "./target.ts"

const untilCheck = satisfies(
  "a Date before the year 10000",
  (value) => isDate(value) && Math.abs(value.getTime()) < LAST_INSTANT_MS,
)

const changeShape = { ...byWhomShape, ...txShape }

const SHAPES = {
  pause: { ...changeShape, until: optional(untilCheck), hold: optional(yesOrNo) },
  resume: { ...changeShape, misfire: optional(oneOf("latest", "all")) },
  cancel: { ...changeShape, cancelQueued: optional(yesOrNo) },
  delete: { ...changeShape, cancelQueued: optional(yesOrNo) },
  runNow: { ...changeShape, overlap: optional(oneOf("allow")) },
  skipNext: changeShape,
} satisfies Readonly<Record<string, Readonly<Record<string, Check>>>>

export const steeringCalls = {
  pause: (opened: Opened, name: string, options: PauseBy & CallerTransaction = {}): Promise<boolean> =>
    performOn(opened, "pause", { name, options }, (runtime, which) => {
      const until = options.until?.getTime() ?? null
      return pauseSchedule(runtime, { ...which, until, isHolding: options.hold ?? false })
    }),
  resume: (opened: Opened, name: string, options: ResumeBy & CallerTransaction = {}): Promise<boolean> =>
    performOn(opened, "resume", { name, options }, (runtime, which) =>
      resumeSchedule(runtime, { ...which, misfire: options.misfire }),
    ),
  cancel: (opened: Opened, name: string, options: CancelBy & CallerTransaction = {}): Promise<boolean> =>
    performOn(opened, "cancel", { name, options }, (runtime, which) =>
      cancelSchedule(runtime, { ...which, cancelsQueued: options.cancelQueued ?? false }),
    ),
  delete: (opened: Opened, name: string, options: CancelBy & CallerTransaction = {}): Promise<boolean> =>
    performOn(opened, "delete", { name, options }, (runtime, which) =>
      deleteSchedule(runtime, { ...which, cancelsQueued: options.cancelQueued ?? false }),
    ),
  runNow: async (
    opened: Opened,
    name: string,
    options: RunNowBy & CallerTransaction = {},
  ): Promise<RunNow> => {
    const run = await performOn(opened, "runNow", { name, options }, (runtime, which) =>
      runScheduleByHand(runtime, { ...which, overlap: options.overlap }),
    )
    if (options.tx && run !== undefined) opened.engine.visibility.watch([run])
    return run === undefined ? { skipped: "overlap" } : { run }
  },
  skipNext: async (
    opened: Opened,
    name: string,
    options: ByWhom & OfTenant & CallerTransaction = {},
  ): Promise<Date | undefined> => {
    const at = await performOn(opened, "skipNext", { name, options }, skipNext)
    return at === undefined ? undefined : toDate(at)
  },
}

/** Checks the call before anything else, then performs its operation. */
async function performOn<Answer>(
  opened: Opened,
  call: keyof typeof SHAPES,
  { name, options }: { readonly name: string; readonly options: ByWhom & OfTenant & CallerTransaction },
  operation: (runtime: Runtime, which: WhichSchedule) => Promise<OperationResult<Answer>>,
): Promise<Answer> {
  assertNamed(`schedules.${call}`, name, options, SHAPES[call])
  const which = { name, tenant: options.tenant ?? "", by: byOf(opened, options) }
  return performIn(opened, options.tx, (runtime) => operation(runtime, which))
}
