/** The routes about tenants. */
import { z } from "@hono/zod-openapi"
import { given, pageOf, pageQuery } from "./fields.ts"
import { pauseBody, pauseNote, pauseOf } from "./pause-fields.ts"
import { type Answer, change, ok, route, type Surroundings } from "./route.ts"

const tenantRecord = z.strictObject({ name: z.string(), paused: pauseNote.optional() }).openapi("Tenant")

const oneTenant = z.strictObject({ name: z.string() })

export const tenantRoutes = [
  route({
    method: "get",
    path: "/tenants",
    scope: "read",
    summary: "Lists the paused tenants by name.",
    query: z.strictObject(pageQuery),
    answers: { 200: pageOf(tenantRecord) },
    handle: async ({ carillon, query, signal }) =>
      ok(await carillon.tenants.list({ ...given(query), signal })),
  }),
  route({
    method: "post",
    path: "/tenants/{name}/pause",
    scope: "operate",
    summary: "Stops claims of the runs of a tenant. Running handlers continue.",
    params: oneTenant,
    body: pauseBody,
    answers: { 200: tenantRecord },
    handle: async (call) => {
      await call.carillon.tenants.pause(call.params.name, pauseOf(call))
      return present(call)
    },
  }),
  route({
    method: "post",
    path: "/tenants/{name}/resume",
    scope: "operate",
    summary: "Ends the pause of a tenant.",
    params: oneTenant,
    body: change({}),
    answers: { 200: tenantRecord },
    handle: async (call) => {
      await call.carillon.tenants.resume(call.params.name, call.by)
      return present(call)
    },
  }),
]

async function present(call: Surroundings & { readonly params: { readonly name: string } }): Promise<Answer> {
  const { name } = call.params
  const pauses = await call.carillon.pauses.list({ signal: call.signal })
  const pause = pauses.find((each) => each.kind === "tenant" && each.name === name)
  if (pause === undefined) return ok({ name })
  const { pausedAt: at, until, actor, reason } = pause
  return ok({ name, paused: { at, ...given({ until }), actor, reason } })
}
