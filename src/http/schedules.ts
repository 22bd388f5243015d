/** The routes about schedules. */
import { z } from "@hono/zod-openapi"
import { previewSchedule } from "../api/schedules/preview.ts"
import { CarillonError } from "../errors.ts"
import { given, instant, instantGiven, pageOf, pageQuery, whole } from "./fields.ts"
import { type Answer, type Call, change, found, ok, route, type Surroundings } from "./route.ts"
import { scheduleChanges, scheduleFields, specFields } from "./schedule-fields.ts"
import { asAnswer, fireRecord, plannedFire, scheduleRecord, scheduleState } from "./schedule-records.ts"
import { tenantOf } from "./tenancy.ts"
import { type Expected, expectedOf, patchHeaders, putHeaders } from "./versions.ts"

const oneSchedule = z.strictObject({ name: z.string() })
const tenant = z.string().optional().openapi({ description: "The tenant of the schedule." })
/** More dates than fit on a page are a mistake, and cost time. */
const MOST_PREVIEWED = 1_000

const ofTenantQuery = z.strictObject({ tenant })

export const scheduleRoutes = [
  route({
    method: "get",
    path: "/schedules",
    scope: "read",
    ofTenant: true,
    summary: "Lists schedules by name.",
    query: z.strictObject({ tenant, state: scheduleState.optional(), ...pageQuery }),
    answers: { 200: pageOf(scheduleRecord) },
    handle: async ({ carillon, caller, query: { tenant: named, ...query }, signal }) => {
      const options = { ...given(query), ...tenantOf(caller, named), signal }
      const { schedules, cursor } = await carillon.schedules.list(options)
      return ok({ items: schedules.map(asAnswer), nextCursor: cursor })
    },
  }),
  route({
    method: "post",
    path: "/schedules/preview",
    scope: "read",
    ofTenant: true,
    summary: "Shows when a schedule would happen, in dates and in words, with warnings.",
    body: z.strictObject({
      ...specFields,
      from: instantGiven.optional(),
      count: z.int().max(MOST_PREVIEWED).optional(),
    }),
    answers: {
      200: z.strictObject({
        occurrences: z.array(instant),
        previous: z.array(instant),
        words: z.string(),
        warnings: z.array(z.strictObject({ code: z.string(), message: z.string(), at: instant.optional() })),
      }),
    },
    handle: async ({ body }) => ok(previewSchedule(given(body) as Parameters<typeof previewSchedule>[0])),
  }),
  route({
    method: "get",
    path: "/schedules/{name}",
    scope: "read",
    ofTenant: true,
    summary: "Reads a schedule. The answer has an `ETag`.",
    params: oneSchedule,
    query: ofTenantQuery,
    answers: { 200: scheduleRecord },
    handle: (call) => present(call),
  }),
  route({
    method: "put",
    path: "/schedules/{name}",
    scope: "operate",
    ofTenant: true,
    summary:
      "Creates a schedule, edits it, or does nothing if it is equal. `If-Match` names the version to edit; " +
      "`If-None-Match: *` only creates.",
    params: oneSchedule,
    query: ofTenantQuery,
    headers: putHeaders,
    body: change({ ...scheduleFields, applyToQueued: z.boolean().optional() }),
    answers: { 200: scheduleRecord, 201: scheduleRecord },
    handle: (call) => put(call, expectedOf(call.headers)),
  }),
  route({
    method: "patch",
    path: "/schedules/{name}",
    scope: "operate",
    ofTenant: true,
    summary: "Changes parts of a schedule (JSON merge patch): null removes one. It needs `If-Match`.",
    params: oneSchedule,
    query: ofTenantQuery,
    headers: patchHeaders,
    body: change({ ...scheduleChanges, applyToQueued: z.boolean().optional() }),
    answers: { 200: scheduleRecord },
    handle: async (call) => {
      const { version } = expectedOf(call.headers)
      if (version === undefined) {
        throw new CarillonError(
          "PRECONDITION_REQUIRED",
          "A patch needs the `ETag` of the schedule as `If-Match`.",
        )
      }
      const { applyToQueued, reason: _, ...changes } = call.body
      await call.carillon.schedules.patch(call.params.name, given(changes) as SchedulePatch, {
        ...{ ...call.by, ...ownTenant(call), version },
        ...given({ applyToQueued }),
      })
      return present(call)
    },
  }),
  route({
    method: "delete",
    path: "/schedules/{name}",
    scope: "operate",
    ofTenant: true,
    summary: "Deletes a schedule. Its runs and the ledger of its occurrences stay.",
    params: oneSchedule,
    query: ofTenantQuery.extend({ cancelQueued: z.enum(["true", "false"]).optional() }),
    answers: { 204: z.undefined() },
    handle: async (call) => {
      const { name } = call.params
      const options = { ...call.by, ...ownTenant(call), cancelQueued: call.query.cancelQueued === "true" }
      if (!(await call.carillon.schedules.delete(name, options))) throw noSchedule(name)
      return { status: 204 }
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/pause",
    scope: "operate",
    ofTenant: true,
    summary: "Stops making runs until `resume`, or until the time that is given.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({ until: instantGiven.optional(), hold: z.boolean().optional() }),
    answers: { 200: scheduleRecord },
    handle: async (call) => {
      const { until, hold } = call.body
      const options = { ...call.by, ...ownTenant(call), ...given({ until, hold }) }
      await call.carillon.schedules.pause(call.params.name, options)
      return present(call)
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/resume",
    scope: "operate",
    ofTenant: true,
    summary: "Continues a paused or faulty schedule.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({ misfire: z.enum(["latest", "all"]).optional() }),
    answers: { 200: scheduleRecord },
    handle: async (call) => {
      const { misfire } = call.body
      const options = { ...call.by, ...ownTenant(call), ...given({ misfire }) }
      await call.carillon.schedules.resume(call.params.name, options)
      return present(call)
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/cancel",
    scope: "operate",
    ofTenant: true,
    summary: "Ends a schedule for good.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({ cancelQueued: z.boolean().optional() }),
    answers: { 200: scheduleRecord },
    handle: async (call) => {
      const { cancelQueued } = call.body
      const options = { ...call.by, ...ownTenant(call), ...given({ cancelQueued }) }
      await call.carillon.schedules.cancel(call.params.name, options)
      return present(call)
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/run-now",
    scope: "operate",
    ofTenant: true,
    summary: "Makes a run now, in addition to the occurrences.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({ overlap: z.literal("allow").optional() }),
    answers: {
      200: z.union([z.strictObject({ run: z.string() }), z.strictObject({ skipped: z.literal("overlap") })]),
    },
    handle: async (call) => {
      const { overlap } = call.body
      const options = { ...call.by, ...ownTenant(call), ...given({ overlap }) }
      return ok(await call.carillon.schedules.runNow(call.params.name, options))
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/skip-next",
    scope: "operate",
    ofTenant: true,
    summary: "Skips the next occurrence. The answer names it, if there is one.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({}),
    answers: { 200: z.strictObject({ skipped: instant.optional() }) },
    handle: async (call) => {
      const options = { ...call.by, ...ownTenant(call) }
      return ok({ skipped: await call.carillon.schedules.skipNext(call.params.name, options) })
    },
  }),
  route({
    method: "post",
    path: "/schedules/{name}/backfill",
    scope: "operate",
    ofTenant: true,
    summary: "Makes runs of past occurrences. With `dryRun` it only counts them.",
    params: oneSchedule,
    query: ofTenantQuery,
    body: change({
      from: instantGiven,
      to: instantGiven,
      reprocess: z.enum(["missing", "failed", "all"]).optional(),
      order: z.enum(["oldest", "newest"]).optional(),
      maxParallel: z.int().optional(),
      priority: z.int().optional(),
      dryRun: z.boolean().optional(),
      force: z.boolean().optional(),
      shareOverlap: z.boolean().optional(),
    }),
    answers: { 200: z.strictObject({ count: whole, runs: whole.optional() }) },
    handle: async (call) => {
      const { reason: _, ...options } = call.body
      const all = { ...call.by, ...ownTenant(call), ...given(options) }
      return ok(await call.carillon.schedules.backfill(call.params.name, all))
    },
  }),
  route({
    method: "get",
    path: "/schedules/{name}/fires",
    scope: "read",
    ofTenant: true,
    summary: "Lists what happened to the occurrences of a schedule, the newest first.",
    params: oneSchedule,
    query: z.strictObject({ tenant, ...pageQuery }),
    answers: { 200: pageOf(fireRecord) },
    handle: async (call) => {
      const { limit, cursor: after } = call.query
      const options = { ...given({ limit, cursor: after }), ...ownTenant(call), signal: call.signal }
      const { fires: items, cursor } = await call.carillon.schedules.fires(call.params.name, options)
      return ok({ items, nextCursor: cursor })
    },
  }),
  route({
    method: "get",
    path: "/schedules/{name}/planned",
    scope: "read",
    ofTenant: true,
    summary: "Lists the coming occurrences of a schedule, the soonest first.",
    params: oneSchedule,
    query: z.strictObject({ tenant, limit: pageQuery.limit, after: instantGiven.optional() }),
    answers: { 200: z.strictObject({ items: z.array(plannedFire) }) },
    handle: async (call) => {
      const { limit, after } = call.query
      const options = { ...given({ limit, after }), ...ownTenant(call), signal: call.signal }
      return ok({ items: await call.carillon.schedules.planned(call.params.name, options) })
    },
  }),
]

type OnSchedule = Surroundings & {
  readonly params: { readonly name: string }
  readonly query: { readonly tenant?: string | undefined }
}
type SchedulePatch = Parameters<Surroundings["carillon"]["schedules"]["patch"]>[1]
type ScheduleOptions = Parameters<Surroundings["carillon"]["schedules"]["put"]>[0]
type PutBody = Call<{ name: string }, { tenant?: string | undefined }, PutFields>
interface PutFields {
  readonly applyToQueued?: boolean | undefined
  readonly reason?: string | undefined
}

async function put(call: PutBody, expectation: Expected): Promise<Answer> {
  const { carillon, by, params } = call
  const { applyToQueued, reason: _, ...fields } = call.body
  const options = { ...given(fields), ...ownTenant(call), name: params.name } as unknown as ScheduleOptions
  if (expectation.isNew) {
    const made = await carillon.schedules.create(options, by)
    return { status: 201, body: asAnswer(made), headers: { ETag: `"${made.version}"` } }
  }
  const { version } = expectation
  const all = { ...by, ...given({ applyToQueued, version }) }
  const { outcome, schedule } = await carillon.schedules.put(options, all)
  const headers = { ETag: `"${schedule.version}"` }
  return { status: outcome === "created" ? 201 : 200, body: asAnswer(schedule), headers }
}

/** The schedule as it is now, with its version as `ETag`. */
async function present(call: OnSchedule): Promise<Answer> {
  const { carillon, params, signal } = call
  const read = await carillon.schedules.get(params.name, { ...ownTenant(call), signal })
  const schedule = found(read, () => noSchedule(params.name))
  return ok(asAnswer(schedule), { ETag: `"${schedule.version}"` })
}

function ownTenant({ caller, query }: Pick<OnSchedule, "caller" | "query">) {
  return tenantOf(caller, query.tenant)
}

function noSchedule(name: string): CarillonError {
  const message = `There is no schedule ${JSON.stringify(name)}.`
  return new CarillonError("SCHEDULE_NOT_FOUND", message)
}
