/** What a request may say about a schedule. The library checks how the parts fit together. */
import { z } from "@hono/zod-openapi"
import { duration, json, listOf } from "./fields.ts"

const MOST_TAGS = 20
const MOST_DATES = 10_000

const dateRange = z.strictObject({ from: z.string(), to: z.string() })
const dates = listOf(z.union([z.string(), dateRange]), MOST_DATES)

/** The times of a schedule. Instants stay texts, because a local time without an offset is meant in the time zone. */
export const specFields = {
  cron: z.string().optional().openapi({ example: "0 2 * * *" }),
  dialect: z.enum(["posix", "vixie", "extended"]).optional(),
  every: z
    .union([
      duration,
      z.strictObject({
        days: z.number().optional(),
        weeks: z.number().optional(),
        months: z.number().optional(),
        at: z.string().optional(),
        from: z.string().optional(),
      }),
    ])
    .optional(),
  offset: duration.optional(),
  anchor: z.enum(["epoch", "start"]).optional(),
  at: z.string().optional(),
  afterCompletion: duration.optional(),
  timeZone: z.string().optional().openapi({ example: "Europe/Oslo" }),
  dst: z.record(z.string(), z.string()).optional(),
  startAt: z.string().optional(),
  endAt: z.string().optional(),
  maxRuns: z.int().optional(),
  exclude: dates.optional(),
  calendars: z.record(z.string(), dates).optional(),
  onExcluded: z.string().optional(),
  jitter: duration.optional(),
  spread: duration.optional(),
}

const settingFields = {
  input: json.optional(),
  misfire: json.optional().openapi({ description: '"latest", "all", "skip" or { mode, within, max }.' }),
  overlap: z.string().optional(),
  maxQueued: z.int().optional(),
  overlapKey: z.string().optional(),
  replaceGrace: duration.optional(),
  onNewOccurrence: z.string().optional(),
  pauseAfterFailures: z.int().optional(),
  includeCurrentMinute: z.boolean().optional(),
  runOnCreate: z.boolean().optional(),
  priority: z.int().optional(),
  pool: z.string().optional(),
  tags: listOf(z.string(), MOST_TAGS).optional(),
  timeout: duration.optional(),
  maxAttempts: z.int().optional(),
  retry: z.record(z.string(), json).optional(),
  startWithin: duration.optional(),
  notes: z.string().optional(),
}

/** A whole schedule, but for its name and its tenant. */
export const scheduleFields = { job: z.string(), ...specFields, ...settingFields }

/** A JSON merge patch: any part of it, and null removes one. */
export const scheduleChanges = orNull({ ...specFields, ...settingFields })

type OrNull<Shape extends z.ZodRawShape> = { [Key in keyof Shape]: z.ZodNullable<Shape[Key]> }

function orNull<Shape extends z.ZodRawShape>(shape: Shape): OrNull<Shape> {
  const fields = Object.entries(shape).map(([name, field]) => [name, (field as z.ZodType).nullable()])
  return Object.fromEntries(fields) as OrNull<Shape>
}
