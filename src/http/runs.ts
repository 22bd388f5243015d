/** The routes about runs. */
import { z } from "@hono/zod-openapi"
import { RunError } from "../errors.ts"
import { mayRead } from "./access.ts"
import { duration, given, id, instantGiven, json, listOf, pageOf, pageQuery, wholeNumber } from "./fields.ts"
import { type Answer, type Call, change, found, ok, route, type Surroundings } from "./route.ts"
import { attemptRecord, runRecord } from "./run-records.ts"
import { ifOwn, tenantOf } from "./tenancy.ts"
import { type Waiting, waitGiven, waitHeaders, waitQuery } from "./waiting.ts"

const MOST_COUNTED = 1_000_000
const MOST_IN_BATCH = 10_000
const BATCH_BYTES = 32 * 1024 * 1024
const MOST_TAGS = 20
const MOST_DELAYS = 100

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
  tags: listOf(z.string(), MOST_TAGS).optional(),
  timeout: duration.optional(),
  retry: z
    .strictObject({
      attempts: z.int().optional(),
      base: duration.optional(),
      factor: z.number().optional(),
      cap: duration.optional(),
      delay: duration.optional(),
      delays: listOf(duration, MOST_DELAYS).optional(),
    })
    .transform(given)
    .optional(),
  startWithin: duration.optional(),
  concurrencyKey: z.string().optional(),
}

/** The id alone if the token may not read, or if the client prefers that. */
const runOrId = z.union([runRecord, z.strictObject({ id })])

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
    headers: waitHeaders,
    body: z.strictObject({ job: z.string(), ...runOptions }),
    answers: { 200: runOrId, 201: runOrId },
    handle: async (call) => {
      const { carillon, caller, body, headers } = call
      const { job, input, tenant, ...options } = body
      const run = await carillon.enqueue(job, input, { ...given(options), ...tenantOf(caller, tenant) })
      const status = run.created ? 201 : 200
      const place = { Location: `runs/${run.id}` }
      // A token that may only enqueue learns nothing of a run that has the same key.
      if (!mayRead(caller) || headers.get("Prefer")?.includes("return=minimal")) {
        return { status, body: { id: run.id }, headers: place }
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
    body: z.strictObject({ job: z.string(), items: listOf(z.strictObject(runOptions), MOST_IN_BATCH) }),
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
    headers: waitHeaders,
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
  route({
    method: "post",
    path: "/runs/{id}/delay",
    scope: "operate",
    ofTenant: true,
    summary: "Makes a run wait until an instant, or for a time from now.",
    params: oneRun,
    body: z.union([change({ until: instantGiven }), change({ for: duration })]),
    answers: { 200: runRecord },
    handle: (call) => {
      const until = "until" in call.body ? call.body.until : call.body.for
      return changed(call, (run) => call.carillon.runs.delay(run, until, call.by))
    },
  }),
  route({
    method: "post",
    path: "/runs/{id}/move",
    scope: "operate",
    ofTenant: true,
    summary: "Moves a run to another pool.",
    params: oneRun,
    body: change({ pool: z.string() }),
    answers: { 200: runRecord },
    handle: (call) => changed(call, (run) => call.carillon.runs.move(run, call.body.pool, call.by)),
  }),
  route({
    method: "post",
    path: "/runs/{id}/edit",
    scope: "operate",
    ofTenant: true,
    summary: "Changes the priority, the tags or the input of a run that is not running.",
    params: oneRun,
    body: change({
      priority: runOptions.priority,
      tags: runOptions.tags,
      input: runOptions.input,
    }),
    answers: { 200: runRecord },
    handle: (call) => {
      const { priority, tags, input } = call.body
      return changed(call, (run) => call.carillon.runs.edit(run, given({ priority, tags, input }), call.by))
    },
  }),
  route({
    method: "post",
    path: "/runs/{id}/rerun",
    scope: "operate",
    ofTenant: true,
    summary: "Runs an ended run once more, as a new run.",
    params: oneRun,
    body: change({ concurrencyKey: runOptions.concurrencyKey }),
    answers: { 201: runRecord },
    handle: async (call) => {
      const { id: original } = await ownRun(call, call.params.id)
      const { concurrencyKey } = call.body
      const made = await call.carillon.runs.rerun(original, { ...call.by, ...given({ concurrencyKey }) })
      return { status: 201, body: await ownRun(call, made.id), headers: { Location: `../${made.id}` } }
    },
  }),
  route({
    method: "post",
    path: "/runs/{id}/clone",
    scope: "operate",
    ofTenant: true,
    summary: "Makes a new run from a run in any state, with changes.",
    params: oneRun,
    body: change(runOptions),
    answers: { 201: runRecord },
    handle: async (call) => {
      const { id: original } = await ownRun(call, call.params.id)
      const { reason: _, tenant, ...changes } = call.body
      const all = { ...given(changes), ...tenantOf(call.caller, tenant) }
      const made = await call.carillon.runs.clone(original, all, call.by)
      return { status: 201, body: await ownRun(call, made.id), headers: { Location: `../${made.id}` } }
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
