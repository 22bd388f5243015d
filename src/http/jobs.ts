/** The routes about jobs. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { given, instant, json, pageOf, pageQuery } from "./fields.ts"
import { pauseNote } from "./pools.ts"
import { found, ok, route } from "./route.ts"

const setting = z.strictObject({ value: json.optional(), from: z.enum(["code", "default"]) })

const jobRecord = z
  .strictObject({
    name: z.string(),
    settings: z.record(z.string(), setting),
    hasSchema: z.boolean(),
    inputSchema: z.record(z.string(), json).optional(),
    version: z.string().optional(),
    declaredAt: instant,
    paused: pauseNote.optional(),
  })
  .openapi("Job")

export const jobRoutes = [
  route({
    method: "get",
    path: "/jobs",
    scope: "read",
    summary: "Lists jobs by name, with their settings.",
    query: z.strictObject(pageQuery),
    answers: { 200: pageOf(jobRecord) },
    handle: async ({ carillon, query, signal }) => ok(await carillon.jobs.list({ ...given(query), signal })),
  }),
  route({
    method: "get",
    path: "/jobs/{name}",
    scope: "read",
    summary: "Reads a job.",
    params: z.strictObject({ name: z.string() }),
    answers: { 200: jobRecord },
    handle: async ({ carillon, params: { name }, signal }) =>
      ok(found(await carillon.jobs.get(name, { signal }), () => noJob(name))),
  }),
]

function noJob(name: string): CarillonError {
  return new CarillonError("JOB_UNKNOWN", `No process has declared a job ${JSON.stringify(name)}.`)
}
