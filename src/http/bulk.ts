/** The routes about bulk operations: one action on all runs that meet a filter. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { given, id, instant, pageOf, pageQuery, whole } from "./fields.ts"
import { change, found, ok, route } from "./route.ts"
import { runRecord } from "./run-records.ts"

const action = z.enum(["cancel", "expedite", "replay", "discard"])
const state = z.enum(["running", "paused", "aborted", "done"])

const bulkRecord = z
  .strictObject({
    id,
    action,
    filter: z.string(),
    priority: z.int().optional(),
    pace: z.string().optional(),
    actor: z.string(),
    reason: z.string().optional(),
    state,
    progress: z.strictObject({ seen: whole, done: whole, skipped: whole, failed: whole }),
    errors: z.array(z.strictObject({ run: id, code: z.string(), message: z.string() })),
    startedAt: instant,
    finishedAt: instant.optional(),
  })
  .openapi("Bulk")

const request = {
  action,
  filter: z.string().openapi({ example: "job:invoice.* state:dead" }),
  priority: z.int().optional().openapi({ description: "The new priority, for `expedite`." }),
}

const oneBulk = z.strictObject({ id: z.string() })

const STEERING = {
  pause: "Stops an operation until `resume`.",
  resume: "Lets a paused operation go on.",
  abort: "Ends an operation. What it has done stays done.",
} as const

export const bulkRoutes = [
  route({
    method: "get",
    path: "/bulk",
    scope: "read",
    summary: "Lists bulk operations, the newest first.",
    query: z.strictObject({ state: state.optional(), ...pageQuery }),
    answers: { 200: pageOf(bulkRecord) },
    handle: async ({ carillon, query, signal }) => ok(await carillon.bulk.list({ ...given(query), signal })),
  }),
  route({
    method: "post",
    path: "/bulk",
    scope: "operate",
    summary: "Starts one action on all runs that meet a filter. Any process carries it on.",
    body: change({ ...request, pace: z.string().optional().openapi({ example: "50/s" }) }),
    answers: { 202: bulkRecord },
    handle: async ({ carillon, body, by }) => {
      const { reason: _, ...wanted } = body
      const started = await carillon.bulk.start({ ...given(wanted), ...by })
      return { status: 202, body: started, headers: { Location: `bulk/${started.id}` } }
    },
  }),
  route({
    method: "post",
    path: "/bulk/preview",
    scope: "read",
    summary: "Says what an operation would do now, and changes nothing.",
    body: z.strictObject({ ...request, upTo: z.int().optional() }),
    answers: {
      200: z.strictObject({
        count: whole,
        capped: z.boolean(),
        searched: whole.optional(),
        samples: z.array(z.strictObject({ run: runRecord, after: z.record(z.string(), z.unknown()) })),
      }),
    },
    handle: async ({ carillon, body, signal }) => ok(await carillon.bulk.preview({ ...given(body), signal })),
  }),
  route({
    method: "get",
    path: "/bulk/{id}",
    scope: "read",
    summary: "Reads a bulk operation.",
    params: oneBulk,
    answers: { 200: bulkRecord },
    handle: async ({ carillon, params, signal }) => {
      const message = `There is no bulk operation ${params.id}.`
      const operation = await carillon.bulk.get(params.id, { signal })
      return ok(found(operation, () => new CarillonError("NOT_FOUND", message)))
    },
  }),
  ...(["pause", "resume", "abort"] as const).map((verb) =>
    route({
      method: "post",
      path: `/bulk/{id}/${verb}`,
      scope: "operate",
      summary: STEERING[verb],
      params: oneBulk,
      body: change({}),
      answers: { 200: bulkRecord },
      handle: async ({ carillon, params, by }) => ok(await carillon.bulk[verb](params.id, by)),
    }),
  ),
]
