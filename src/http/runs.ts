/** The routes about runs. */
import { z } from "@hono/zod-openapi"
import { RunError } from "../errors.ts"
import { duration, given, id, instantGiven, json, pageOf, pageQuery, wholeNumber } from "./fields.ts"
import { type Answer, type Call, change, found, ok, route, type Surroundings } from "./route.ts"
import { attemptRecord, runRecord } from "./run-records.ts"
import { ifOwn, tenantOf } from "./tenancy.ts"
import { type Waiting, waitGiven, waitQuery } from "./waiting.ts"

const MOST_COUNTED = 1_000_000
const MOST_IN_BATCH = 10_000
const BATCH_BYTES = 32 * 1024 * 1024

const filter = z.string().optional().openapi({
  description: "Which runs are meant, as in `state:dead job:invoice.*`.",
  example: "state:dead job:invoice.*",
})

const oneRun = z.strictObject({ id: z.string() })

/** The library checks the ranges. */
const runOptions = {
  input: json.optional(),
  delay: duration.optional(),
  runAt: instantGiven.optional(),
  priority: z.int().optional(),
  pool: z.string().optional(),
  tenant: z.string().optional(),
  key: z.string().optional(),
  keyFor: duration.optional().openapi({ description: 'A duration, "live" or "forever".' }),
  tags: z.array(z.string()).optional(),
  timeout: duration.optional(),
  retry: z
    .strictObject({
      attempts: z.int().optional(),
      base: duration.optional(),
      factor: z.number().optional(),
      cap: duration.optional(),
      delay: duration.optional(),
      delays: z.array(duration).optional(),
    })
    .transform(given)
    .optional(),
  startWithin: duration.optional(),
  concurrencyKey: z.string().optional(),
}

export const runRoutes = [
  route({
    method: "get",
    path: "/runs",
    scope: "read",
    ofTenant: true,
    summary: "Lists runs, the newest first.",
    query: z.strictObject({ filter, ...pageQuery }),
    answers: { 200: pageOf(runRecord, { searched: z.int().optional() }) },
    handle: async ({ carillon, caller, query, signal }) =>
      ok(await carillon.runs.list({ ...given(query), ...tenantOf(caller, undefined), signal })),
  }),
  route({
    method: "get",
    path: "/runs/count",
    scope: "read",
    ofTenant: true,
    summary: "Counts runs.",
    query: z.strictObject({ filter, upTo: wholeNumber({ min: 1, max: MOST_COUNTED }).optional() }),
    answers: {
      200: z.strictObject({ count: z.int(), capped: z.boolean(), searched: z.int().optional() }),
    },
    handle: async ({ carillon, caller, query, signal }) =>
      ok(await carillon.runs.count({ ...given(query), ...tenantOf(caller, undefined), signal })),
  }),
  route({
    method: "post",
    path: "/runs",
    scope: "enqueue",
    ofTenant: true,
    summary: "Enqueues a run. With `wait` it answers when the run has ended, or when the time is over.",
    query: z.strictObject(waitQuery),
    body: z.strictObject({ job: z.string(), ...runOptions }),
    answers: { 200: runRecord, 201: runRecord },
    handle: async (call) => {
      const { carillon, caller, body, headers } = call
      const { job, input, tenant, ...options } = body
      const run = await carillon.enqueue(job, input, { ...given(options), ...tenantOf(caller, tenant) })
      const status = run.created ? 201 : 200
      const place = { Location: `runs/${run.id}` }
      if (headers.get("Prefer")?.includes("return=minimal")) {
        return { status, body: { id: run.id }, headers: { ...place, "Preference-Applied": "return=minimal" } }
      }
      return { status, body: await whenWaited(call, run.id), headers: place }
    },
  }),
  route({
    method: "post",
    path: "/runs/batch",
    scope: "enqueue",
    ofTenant: true,
    summary: `Enqueues up to ${MOST_IN_BATCH} runs of one job, all or none.`,
    body: z.strictObject({ job: z.string(), items: z.array(z.strictObject(runOptions)).max(MOST_IN_BATCH) }),
    bodyBytes: BATCH_BYTES,
    answers: { 201: z.strictObject({ items: z.array(z.strictObject({ id, created: z.boolean() })) }) },
    handle: async ({ carillon, caller, body: { job, items } }) => {
      const runs = items.map(({ tenant, ...item }) => ({ ...given(item), ...tenantOf(caller, tenant) }))
      const made = await carillon.enqueueMany(job, runs)
      return { status: 201, body: { items: made.map(({ id, created }) => ({ id, created })) } }
    },
  }),
  route({
    method: "get",
    path: "/runs/{id}",
    scope: "read",
    ofTenant: true,
    summary:
      "Reads a run in any state. With `wait` it answers when the run has ended, or when the time is over.",
    params: oneRun,
    query: z.strictObject(waitQuery),
    answers: { 200: runRecord },
    handle: async (call) => {
      const run = await ownRun(call, call.params.id)
      return ok(waitGiven(call) > 0 ? await whenWaited(call, run.id) : run)
    },
  }),
  route({
    method: "get",
    path: "/runs/{id}/attempts",
    scope: "read",
    ofTenant: true,
    summary: "Lists the finished attempts of a run, the oldest first.",
    params: oneRun,
    answers: { 200: z.strictObject({ items: z.array(attemptRecord) }) },
    handle: async (call) => {
      const run = await ownRun(call, call.params.id)
      return ok({ items: await call.carillon.runs.attempts(run.id, { signal: call.signal }) })
    },
  }),
  route({
    method: "post",
    path: "/runs/{id}/cancel",
    scope: "operate",
    ofTenant: true,
    summary: "Cancels a run in any state.",
    params: oneRun,
    body: change({}),
    answers: { 200: runRecord },
    handle: (call) => changed(call, (run) => call.carillon.runs.cancel(run, call.by)),
  }),
  route({
    method: "post",
    path: "/runs/{id}/expedite",
    scope: "operate",
    ofTenant: true,
    summary: "Makes a waiting run due now, or gives a run another priority.",
    params: oneRun,
    body: change({ priority: z.int().optional() }),
    answers: { 200: runRecord },
    handle: (call) => {
      const { priority } = call.body
      return changed(call, (run) => call.carillon.runs.expedite(run, { ...call.by, ...given({ priority }) }))
    },
  }),
]

type OnRun = Pick<Call<{ readonly id: string }, unknown, unknown>, "params" | keyof Surroundings>

/** Changes a run, and answers the record that it has then. */
async function changed(call: OnRun, work: (run: string) => Promise<unknown>): Promise<Answer> {
  const { id } = await ownRun(call, call.params.id)
  await work(id)
  return ok(await ownRun(call, id))
}

export async function ownRun({ carillon, caller, signal }: Surroundings, run: string) {
  return found(ifOwn(caller, await carillon.runs.get(run, { signal })), () => noRun(run))
}

/** The run when it has ended, or as it is when the time that the caller gave is over. */
async function whenWaited(call: Surroundings & Waiting, run: string) {
  const deadline = waitGiven(call)
  if (deadline === 0) return ownRun(call, run)
  return call.carillon.runs.wait(run, { deadline, signal: call.signal }).catch((error: unknown) => {
    if (error instanceof RunError && error.code === "RUN_NOT_ENDED") return ownRun(call, run)
    throw error
  })
}

export function noRun(run: string): RunError {
  return new RunError("RUN_NOT_FOUND", run, `Run ${run} is neither waiting, running nor in history.`)
}
