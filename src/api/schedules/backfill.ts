/** The call that backfills a schedule: its checks and its answer. */
import { OptionsError } from "../../errors.ts"
import { priorityCheck } from "../../job/options.ts"
import { backfillSchedule } from "../../operations/schedules/backfill.ts"
import { integer, oneOf, optional, satisfies } from "../../options/check.ts"
import { isDate } from "../../time/instant.ts"
import { byOf, byWhomShape } from "../actor.ts"
import type { Opened } from "../application.ts"
import { LAST_INSTANT_MS } from "../runs/enqueue-options.ts"
import type { BackfillOptions, BackfillResult } from "./backfill-options.ts"
import { assertNamed } from "./target.ts"

const MOST_PARALLEL = 10_000

const momentCheck = satisfies(
  "a Date between the years 1970 and 9999",
  (value) => isDate(value) && value.getTime() >= 0 && value.getTime() < LAST_INSTANT_MS,
)
const flagCheck = satisfies("true or false", (value) => typeof value === "boolean")

const shape = {
  ...byWhomShape,
  from: momentCheck,
  to: momentCheck,
  reprocess: optional(oneOf("missing", "failed", "all")),
  order: optional(oneOf("oldest", "newest")),
  maxParallel: optional(integer({ min: 1, max: MOST_PARALLEL })),
  priority: optional(priorityCheck),
  dryRun: optional(flagCheck),
  force: optional(flagCheck),
  shareOverlap: optional(flagCheck),
}

export async function backfillCall(
  opened: Opened,
  name: string,
  options: BackfillOptions,
): Promise<BackfillResult> {
  assertNamed("schedules.backfill", name, options, shape)
  assertTogether(options)
  const { runtime, engine } = opened
  const { tenant = "", dryRun: isDryRun = false, maxParallel = 1, order = "oldest" } = options
  const { count, runs } = await backfillSchedule(
    { runtime, tell: engine.tell },
    {
      ...{ name, tenant, isDryRun, maxParallel, order },
      by: byOf(opened, options),
      from: options.from.getTime(),
      to: options.to.getTime(),
      reprocess: options.reprocess ?? "missing",
      priority: options.priority,
      isForced: options.force ?? false,
      sharesOverlap: options.shareOverlap ?? false,
    },
  )
  return isDryRun ? { count } : { count, runs }
}

function assertTogether({
  from,
  to,
  shareOverlap,
  maxParallel = 1,
  order = "oldest",
}: BackfillOptions): void {
  const faults = [
    ...(from.getTime() >= to.getTime() ? [{ path: "to", message: "is not later than `from`" }] : []),
    ...(shareOverlap && maxParallel > 1
      ? [{ path: "maxParallel", message: "must be 1 with `shareOverlap`: those runs execute one at a time" }]
      : []),
    ...(shareOverlap && order === "newest"
      ? [
          {
            path: "order",
            message:
              'must be "oldest" with `shareOverlap`: those runs execute in the order of their occurrences',
          },
        ]
      : []),
  ]
  if (faults.length > 0) throw new OptionsError("schedules.backfill", faults)
}
