/** The routes that read runs. */
import { z } from "@hono/zod-openapi"
import { RunError } from "../errors.ts"
import { given, pageOf, pageQuery, wholeNumber } from "./fields.ts"
import { found, ok, route } from "./route.ts"
import { attemptRecord, runRecord } from "./run-records.ts"

const MOST_COUNTED = 1_000_000

const filter = z.string().optional().openapi({
  description: "Which runs are meant, as in `state:dead job:invoice.*`.",
  example: "state:dead job:invoice.*",
})

const oneRun = z.strictObject({ id: z.string() })

export const runRoutes = [
  route({
    method: "get",
    path: "/runs",
    scope: "read",
    summary: "Lists runs, the newest first.",
    query: z.strictObject({ filter, ...pageQuery }),
    answers: { 200: pageOf(runRecord, { searched: z.int().optional() }) },
    handle: async ({ carillon, query, signal }) => ok(await carillon.runs.list({ ...given(query), signal })),
  }),
  route({
    method: "get",
    path: "/runs/count",
    scope: "read",
    summary: "Counts runs.",
    query: z.strictObject({ filter, upTo: wholeNumber({ min: 1, max: MOST_COUNTED }).optional() }),
    answers: {
      200: z.strictObject({ count: z.int(), capped: z.boolean(), searched: z.int().optional() }),
    },
    handle: async ({ carillon, query, signal }) => ok(await carillon.runs.count({ ...given(query), signal })),
  }),
  route({
    method: "get",
    path: "/runs/{id}",
    scope: "read",
    summary: "Reads a run in any state.",
    params: oneRun,
    answers: { 200: runRecord },
    handle: async ({ carillon, params, signal }) =>
      ok(found(await carillon.runs.get(params.id, { signal }), () => noRun(params.id))),
  }),
  route({
    method: "get",
    path: "/runs/{id}/attempts",
    scope: "read",
    summary: "Lists the finished attempts of a run, the oldest first.",
    params: oneRun,
    answers: { 200: z.strictObject({ items: z.array(attemptRecord) }) },
    handle: async ({ carillon, params, signal }) => {
      found(await carillon.runs.get(params.id, { signal }), () => noRun(params.id))
      return ok({ items: await carillon.runs.attempts(params.id, { signal }) })
    },
  }),
]

export function noRun(id: string): RunError {
  return new RunError("RUN_NOT_FOUND", id, `Run ${id} is neither waiting, running nor in history.`)
}
