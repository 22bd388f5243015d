/** The routes that read schedules. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { given, instantGiven, pageOf, pageQuery } from "./fields.ts"
import { found, ok, route } from "./route.ts"
import { fireRecord, plannedFire, scheduleRecord, scheduleState } from "./schedule-records.ts"

const oneSchedule = z.strictObject({ name: z.string() })
const tenant = z.string().optional().openapi({ description: "The tenant of the schedule." })

export const scheduleRoutes = [
  route({
    method: "get",
    path: "/schedules",
    scope: "read",
    summary: "Lists schedules by name.",
    query: z.strictObject({ tenant, state: scheduleState.optional(), ...pageQuery }),
    answers: { 200: pageOf(scheduleRecord) },
    handle: async ({ carillon, query, signal }) => {
      const { schedules: items, cursor } = await carillon.schedules.list({ ...given(query), signal })
      return ok({ items, nextCursor: cursor })
    },
  }),
  route({
    method: "get",
    path: "/schedules/{name}",
    scope: "read",
    summary: "Reads a schedule.",
    params: oneSchedule,
    query: z.strictObject({ tenant }),
    answers: { 200: scheduleRecord },
    handle: async ({ carillon, params: { name }, query, signal }) =>
      ok(found(await carillon.schedules.get(name, { ...given(query), signal }), () => noSchedule(name))),
  }),
  route({
    method: "get",
    path: "/schedules/{name}/fires",
    scope: "read",
    summary: "Lists what happened to the occurrences of a schedule, the newest first.",
    params: oneSchedule,
    query: z.strictObject({ tenant, ...pageQuery }),
    answers: { 200: pageOf(fireRecord) },
    handle: async ({ carillon, params, query, signal }) => {
      const { fires: items, cursor } = await carillon.schedules.fires(params.name, {
        ...given(query),
        signal,
      })
      return ok({ items, nextCursor: cursor })
    },
  }),
  route({
    method: "get",
    path: "/schedules/{name}/planned",
    scope: "read",
    summary: "Lists the coming occurrences of a schedule, the soonest first.",
    params: oneSchedule,
    query: z.strictObject({ tenant, limit: pageQuery.limit, after: instantGiven.optional() }),
    answers: { 200: z.strictObject({ items: z.array(plannedFire) }) },
    handle: async ({ carillon, params, query, signal }) =>
      ok({ items: await carillon.schedules.planned(params.name, { ...given(query), signal }) }),
  }),
]

export function noSchedule(name: string): CarillonError {
  const message = `There is no schedule ${JSON.stringify(name)}.`
  return new CarillonError("SCHEDULE_NOT_FOUND", message)
}
