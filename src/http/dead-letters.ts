/** The routes that read dead letters. */
import { z } from "@hono/zod-openapi"
import { given, id, instant, pageOf, pageQuery, whole, wholeNumber } from "./fields.ts"
import { ok, route } from "./route.ts"
import { runRecord } from "./run-records.ts"

const MOST_COUNTED = 1_000_000

/** Dead letters of one job whose errors are likely the same. */
export const groupRecord = z
  .strictObject({
    job: z.string(),
    fingerprint: z.string(),
    state: z.enum(["open", "ignored", "resolved", "regressed"]),
    resolvedIn: z.string().optional(),
    decidedAt: instant.optional(),
    count: whole,
    capped: z.boolean(),
    firstSeen: instant.optional(),
    lastSeen: instant.optional(),
    tenants: z.array(z.string()),
    sample: z.strictObject({ id, code: z.string().optional(), message: z.string() }).optional(),
  })
  .openapi("DeadLetterGroup")

const which = {
  job: z.string().optional(),
  fingerprint: z.string().optional().openapi({ description: "It needs a `job`." }),
  tenant: z.string().optional(),
}

export const deadLetterRoutes = [
  route({
    method: "get",
    path: "/dead-letters",
    scope: "read",
    summary: "Lists dead letters, the newest first.",
    query: z.strictObject({ ...which, ...pageQuery }),
    answers: { 200: pageOf(runRecord) },
    handle: async ({ carillon, query: { limit, cursor, ...filter }, signal }) =>
      ok(await carillon.deadLetters.list({ filter: given(filter), ...given({ limit, cursor }), signal })),
  }),
  route({
    method: "get",
    path: "/dead-letters/groups",
    scope: "read",
    summary: "Lists dead letters by job and error.",
    query: z.strictObject({
      job: which.job,
      upTo: wholeNumber({ min: 1, max: MOST_COUNTED }).optional(),
      ...pageQuery,
    }),
    answers: { 200: pageOf(groupRecord) },
    handle: async ({ carillon, query, signal }) =>
      ok(await carillon.deadLetters.groups({ ...given(query), signal })),
  }),
]
