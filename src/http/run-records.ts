/** The records of runs and of their attempts, as answers hold them. */
import { z } from "@hono/zod-openapi"
import { id, instant, json, whole } from "./fields.ts"

const schedule = z.strictObject({ id: z.string(), name: z.string() })

export const runState = z.enum([
  "waiting",
  "parked",
  "ready",
  "running",
  "succeeded",
  "dead",
  "cancelled",
  "expired",
  "discarded",
])

const failure = z.strictObject({
  code: z.string().optional(),
  message: z.string(),
  stack: z.string().optional(),
  fingerprint: z.string().optional(),
})

/** A run, in whatever state. */
export const runRecord = z
  .strictObject({
    id,
    state: runState,
    job: z.string(),
    pool: z.string(),
    priority: z.int(),
    tenant: z.string().optional(),
    tags: z.array(z.string()).optional(),
    key: z.string().optional(),
    input: json,
    result: json.optional(),
    error: failure.optional(),
    attempt: whole,
    generation: whole,
    enqueuedAt: instant,
    dueAt: instant,
    startBy: instant.optional(),
    startedAt: instant.optional(),
    finishedAt: instant.optional(),
    durationMs: z.number().optional(),
    timeoutMs: whole.optional(),
    schedule: schedule.extend({ occurrence: instant.optional() }).optional(),
    missed: z.strictObject({ count: whole, first: instant, last: instant }).optional(),
    parkedFor: z.enum(["limit", "pause", "tenant", "handler", "hold"]).optional(),
    worker: z.string().optional(),
    leaseUntil: instant.optional(),
    progress: json.optional(),
    idempotencyKey: z.string(),
    rerunOf: id.optional(),
    version: z.string().optional(),
  })
  .openapi("Run")

const logLine = z.union([
  z.strictObject({ afterMs: z.number(), message: z.string(), data: json.optional() }),
  z.strictObject({ dropped: z.int() }),
])

/** A finished attempt. */
export const attemptRecord = z
  .strictObject({
    id: z.string(),
    runId: id,
    generation: whole,
    attempt: whole,
    charged: z.boolean(),
    cause: z.string().optional(),
    job: z.string(),
    pool: z.string(),
    tenant: z.string().optional(),
    schedule: schedule.optional(),
    occurrence: instant.optional(),
    idempotencyKey: z.string(),
    lease: z.string().optional(),
    worker: z.string().optional(),
    version: z.string().optional(),
    enqueuedAt: instant,
    dueAt: instant,
    startedAt: instant.optional(),
    finishedAt: instant,
    durationMs: z.number().optional(),
    outcome: z.enum([
      "succeeded",
      "failed",
      "timed_out",
      "released",
      "lost",
      "cancelled",
      "expired",
      "snoozed",
    ]),
    runState: z.enum(["succeeded", "dead", "cancelled", "expired", "discarded"]).optional(),
    error: z
      .strictObject({
        code: z.string().optional(),
        message: z.string(),
        stack: z.string().optional(),
      })
      .optional(),
    logs: z.array(logLine).optional(),
  })
  .openapi("Attempt")
