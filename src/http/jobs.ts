/** The routes about jobs. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { duration, given, instant, instantGiven, json, pageOf, pageQuery } from "./fields.ts"
import { pauseBody, pauseNote, pauseOf } from "./pause-fields.ts"
import { type Answer, change, found, ok, route, type Surroundings } from "./route.ts"

const setting = z.strictObject({
  value: json.optional(),
  from: z.enum(["override", "code", "default"]),
  override: pauseNote.extend({ declared: json.optional() }).optional(),
})

export const jobRecord = z
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

const oneJob = z.strictObject({ name: z.string() })

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
    params: oneJob,
    answers: { 200: jobRecord },
    handle: async (call) => ok(await jobOf(call)),
  }),
  route({
    method: "post",
    path: "/jobs/{name}/pause",
    scope: "operate",
    summary: "Stops claims of the runs of a job. Running handlers continue.",
    params: oneJob,
    body: pauseBody,
    answers: { 200: jobRecord, 204: z.undefined() },
    handle: async (call) => {
      await call.carillon.jobs.pause(call.params.name, pauseOf(call))
      return afterChange(call)
    },
  }),
  route({
    method: "put",
    path: "/jobs/{name}/override",
    scope: "operate",
    summary: "Overrides settings of a job in every process, until a given end.",
    params: oneJob,
    body: change({
      settings: z
        .record(z.string(), json)
        .openapi({ description: "The settings, as in { retry: { base } }." }),
      until: z.union([z.literal("cleared"), instantGiven]).optional(),
      for: duration.optional(),
    }),
    answers: { 200: jobRecord, 204: z.undefined() },
    handle: async (call) => {
      const { settings, until, for: lasting } = call.body
      const options = { ...call.by, ...given({ until, for: lasting }) }
      await call.carillon.jobs.override(call.params.name, settings as JobOverride, options)
      return afterChange(call)
    },
  }),
  route({
    method: "delete",
    path: "/jobs/{name}/override",
    scope: "operate",
    summary: "Ends all overrides of a job.",
    params: oneJob,
    answers: { 200: jobRecord, 204: z.undefined() },
    handle: async (call) => {
      await call.carillon.jobs.clearOverride(call.params.name, call.by)
      return afterChange(call)
    },
  }),
  route({
    method: "post",
    path: "/jobs/{name}/resume",
    scope: "operate",
    summary: "Ends the pause of a job.",
    params: oneJob,
    body: change({}),
    answers: { 200: jobRecord, 204: z.undefined() },
    handle: async (call) => {
      await call.carillon.jobs.resume(call.params.name, call.by)
      return afterChange(call)
    },
  }),
]

type JobOverride = Parameters<Surroundings["carillon"]["jobs"]["override"]>[1]
type OnJob = Surroundings & { readonly params: { readonly name: string } }

/** A job that only history knows can be paused, and has no record. */
async function afterChange({ carillon, params, signal }: OnJob): Promise<Answer> {
  const job = await carillon.jobs.get(params.name, { signal })
  return job ? ok(job) : { status: 204 }
}

async function jobOf({ carillon, params, signal }: OnJob) {
  return found(await carillon.jobs.get(params.name, { signal }), () => noJob(params.name))
}

function noJob(name: string): CarillonError {
  return new CarillonError("JOB_UNKNOWN", `No process has declared a job ${JSON.stringify(name)}.`)
}
