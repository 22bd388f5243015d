/** The routes about workers. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { given, id, instant, pageOf, pageQuery, whole } from "./fields.ts"
import { found, ok, route } from "./route.ts"

export const workerRecord = z
  .strictObject({
    id,
    host: z.string(),
    pid: whole,
    version: z.string().optional(),
    pools: z.array(z.strictObject({ name: z.string(), slots: whole.optional(), used: whole.optional() })),
    jobs: z.array(z.string()),
    startedAt: instant,
    leaseUntil: instant,
    eventLoopDelayMs: z.number().optional(),
    memoryBytes: whole.optional(),
    measuredAt: instant.optional(),
    runs: z.array(id),
  })
  .openapi("Worker")

export const workerRoutes = [
  route({
    method: "get",
    path: "/workers",
    scope: "read",
    summary: "Lists live workers.",
    query: z.strictObject(pageQuery),
    answers: { 200: pageOf(workerRecord) },
    handle: async ({ carillon, query, signal }) =>
      ok(await carillon.workers.list({ ...given(query), signal })),
  }),
  route({
    method: "get",
    path: "/workers/{id}",
    scope: "read",
    summary: "Reads a live worker.",
    params: z.strictObject({ id: z.string() }),
    answers: { 200: workerRecord },
    handle: async ({ carillon, params, signal }) =>
      ok(found(await carillon.workers.get(params.id, { signal }), () => noWorker(params.id))),
  }),
]

function noWorker(worker: string): CarillonError {
  return new CarillonError("NOT_FOUND", `There is no live worker ${worker}.`)
}
