/** The routes that read statistics. */
import { z } from "@hono/zod-openapi"
import { given, instant, instantGiven, whole, wordList } from "./fields.ts"
import { poolRecord } from "./pools.ts"
import { ok, route } from "./route.ts"

const outcome = z.enum([
  "succeeded",
  "failed",
  "timed_out",
  "released",
  "lost",
  "cancelled",
  "expired",
  "snoozed",
])

const times = z.strictObject({ count: whole, sumMs: z.number(), buckets: z.array(whole) })

export const statsPoint = z
  .strictObject({
    at: instant,
    job: z.string().optional(),
    pool: z.string().optional(),
    tenant: z.string().optional(),
    isOtherTenants: z.literal(true).optional(),
    outcome: outcome.optional(),
    ends: whole,
    retries: whole,
    dead: whole,
    wait: times,
    duration: times,
  })
  .openapi("StatsPoint")

export const depthPoint = z
  .strictObject({
    at: instant,
    pool: z.string(),
    waiting: whole,
    parked: whole,
    ready: whole,
    running: whole,
    capped: z.boolean(),
    oldestDueMs: whole,
    slots: whole,
    used: whole,
  })
  .openapi("DepthPoint")

export const dueOfJob = z
  .strictObject({ job: z.string(), due: whole, oldestDueAt: instant })
  .openapi("DueOfJob")

const span = {
  from: instantGiven.optional(),
  to: instantGiven.optional(),
  step: z.enum(["minute", "hour", "day"]).optional(),
}

const kinds = wordList.pipe(z.array(z.enum(["job", "pool", "tenant", "outcome"])))

export const statsRoutes = [
  route({
    method: "get",
    path: "/stats",
    scope: "read",
    summary: "Tells how attempts ended, step by step.",
    query: z.strictObject({
      ...span,
      by: kinds.optional(),
      job: wordList.optional(),
      pool: wordList.optional(),
      tenant: wordList.optional(),
      outcome: wordList.pipe(z.array(outcome)).optional(),
    }),
    answers: { 200: z.strictObject({ items: z.array(statsPoint) }) },
    handle: async ({ carillon, query: { job, pool, tenant, outcome, ...query }, signal }) => {
      const where = given({ job, pool, tenant, outcome })
      return ok({ items: await carillon.stats.series({ ...given(query), where, signal }) })
    },
  }),
  route({
    method: "get",
    path: "/stats/depths",
    scope: "read",
    summary: "Tells what waited in pools, step by step.",
    query: z.strictObject({ ...span, pool: wordList.optional() }),
    answers: { 200: z.strictObject({ items: z.array(depthPoint) }) },
    handle: async ({ carillon, query, signal }) =>
      ok({ items: await carillon.stats.depths({ ...given(query), signal }) }),
  }),
  route({
    method: "get",
    path: "/stats/now",
    scope: "read",
    summary: "Tells how every pool stands now.",
    answers: { 200: z.strictObject({ at: instant, pools: z.array(poolRecord) }) },
    handle: async ({ carillon, signal }) => ok(await carillon.stats.now({ signal })),
  }),
  route({
    method: "get",
    path: "/stats/due",
    scope: "read",
    summary: "Tells how many runs of each job are due and wait for a slot.",
    answers: { 200: z.strictObject({ items: z.array(dueOfJob), capped: z.boolean() }) },
    handle: async ({ carillon, signal }) => ok(await carillon.stats.due({ signal })),
  }),
]
