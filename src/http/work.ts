/** The routes of workers in other languages. */
import { z } from "@hono/zod-openapi"
import { duration, given, id, instant, json, listOf, whole } from "./fields.ts"
import { ok, route } from "./route.ts"

const BATCH_BYTES = 32 * 1024 * 1024
const MOST_RUNS = 500
const MOST_HELD = 10_000

const claimName = z.string().openapi({
  description: "Proves the claim of a run. 16 hexadecimal digits.",
  example: "e6834f367e91d1df",
})
const lease = z.string().openapi({ description: "The lease of the worker, from its first claim." })
const leaseFor = duration
  .optional()
  .openapi({ description: 'How long the worker may be silent. "60s" if it is left out.' })
const heldWork = z.strictObject({ id, claim: claimName })
const leaseMs = whole.openapi({ description: "How long the lease is from now on." })

const workRun = z
  .strictObject({
    id,
    claim: claimName,
    job: z.string(),
    pool: z.string(),
    input: json,
    attempt: z.int(),
    attemptId: z.string(),
    generation: z.int(),
    tenant: z.string().optional(),
    tags: z.array(z.string()).optional(),
    dueAt: instant,
    timeoutMs: z.int().optional(),
    idempotencyKey: z.string(),
    fencingToken: z.int(),
    lastFailure: z.strictObject({ code: z.string().nullable(), message: z.string() }).optional(),
  })
  .openapi("WorkRun")

const workEnd = z.strictObject({
  id: z.string(),
  claim: z.string(),
  outcome: z.enum(["succeeded", "failed", "timed_out", "cancelled", "snoozed", "released"]),
  result: json.optional(),
  error: z
    .strictObject({ message: z.string(), code: z.string().optional(), stack: z.string().optional() })
    .transform(given)
    .optional(),
  retryable: z.boolean().optional(),
  retryAfter: duration.optional(),
  snoozeFor: duration.optional(),
  durationMs: z.int().optional(),
})

export const workRoutes = [
  route({
    method: "post",
    path: "/work/claim",
    scope: "work",
    summary: "Claims runs for a worker. Waits for them for up to a minute, if asked.",
    body: z.strictObject({
      lease: lease.optional(),
      worker: z
        .strictObject({
          name: z.string(),
          jobs: listOf(z.string(), MOST_RUNS),
          pools: listOf(z.string(), MOST_RUNS).optional(),
          version: z.string().optional(),
        })
        .transform(given)
        .optional()
        .openapi({ description: "Who the worker is. Needed without a lease." }),
      limit: z.int().optional(),
      wait: duration.optional(),
      leaseFor,
    }),
    answers: { 200: z.strictObject({ lease, leaseMs, runs: z.array(workRun) }) },
    handle: async ({ carillon, body, by, signal }) =>
      ok(await carillon.work.claim({ ...given(body), ...by, signal })),
  }),
  route({
    method: "post",
    path: "/work/heartbeat",
    scope: "work",
    summary: "Renews the lease of a worker, and says which of its runs are lost or cancelled.",
    body: z.strictObject({
      lease,
      runs: listOf(z.strictObject({ id: z.string(), claim: z.string() }), MOST_HELD).optional(),
      leaseFor,
      leaving: z.boolean().optional(),
    }),
    answers: {
      200: z.strictObject({
        leaseMs,
        lost: z.array(id),
        cancelled: z.array(
          z.strictObject({ id, actor: z.string().optional(), reason: z.string().optional() }),
        ),
        unlisted: z.array(heldWork),
      }),
    },
    handle: async ({ carillon, body }) => ok(await carillon.work.heartbeat(given(body))),
  }),
  route({
    method: "post",
    path: "/work/settle",
    scope: "work",
    summary: "Writes how attempts ended, up to 500 at once. A repetition answers the same.",
    bodyBytes: BATCH_BYTES,
    body: z.strictObject({ lease, ends: listOf(workEnd.transform(given), MOST_RUNS), leaseFor }),
    answers: {
      200: z.strictObject({
        leaseMs,
        runs: z.array(z.strictObject({ id, state: z.string().optional() })),
      }),
    },
    handle: async ({ carillon, body }) => ok(await carillon.work.settle(given(body))),
  }),
]
