/** The records of schedules and of their occurrences, as answers hold them. */
import { z } from "@hono/zod-openapi"
import { id, instant, json, whole } from "./fields.ts"

export const scheduleState = z.enum([
  "active",
  "paused",
  "completed",
  "missed",
  "retired",
  "error",
  "cancelled",
])

const settings = z.record(z.string(), json)

/** A schedule in its present state. */
export const scheduleRecord = z
  .strictObject({
    id,
    name: z.string(),
    tenant: z.string().optional(),
    job: z.string(),
    spec: settings.openapi({ description: "Its times, as they were written." }),
    words: z.string().optional().openapi({ description: "Its times in English." }),
    input: json,
    settings,
    policy: settings.openapi({ description: "Its misfire and overlap policies, each with its source." }),
    state: scheduleState,
    version: whole,
    next: z.strictObject({ occurrence: instant, due: instant }).optional(),
    fired: whole,
    live: whole,
    pausedAt: instant.optional(),
    resumeAt: instant.optional(),
    cause: json.optional(),
    createdAt: instant,
    changedAt: instant,
    declared: z
      .strictObject({ application: z.string().optional(), version: z.string().optional() })
      .optional(),
  })
  .openapi("Schedule")

/** One occurrence, or a stretch of occurrences without runs. */
export const fireRecord = z
  .strictObject({
    occurrence: instant,
    last: instant,
    count: whole,
    generation: whole,
    byHand: z.literal(true).optional(),
    outcome: z.enum(["fired", "coalesced", "skipped", "superseded"]),
    reason: z.string().optional(),
    into: instant.optional(),
    due: instant.optional(),
    decidedAt: instant,
    run: id.optional(),
    state: z.string().optional(),
    attempts: whole.optional(),
  })
  .openapi("Fire")

/** A coming occurrence. */
export const plannedFire = z.strictObject({ occurrence: instant, due: instant }).openapi("PlannedFire")

interface Nullable {
  readonly settings: object
  readonly policy: object
}

/** The record as answers hold it. What the library stores as null is absent here. */
export function asAnswer<Schedule extends Nullable>(schedule: Schedule): Schedule {
  const { settings, policy } = schedule
  return { ...schedule, settings: withoutNulls(settings), policy: withoutNulls(policy) }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([, part]) => part !== null)
  return Object.fromEntries(entries.map(([key, part]) => [key, withoutNulls(part)]))
}
