/** The routes about what is paused, and about pausing everything. */
import { z } from "@hono/zod-openapi"
import { PAUSE_KINDS } from "../queue/pause-kind.ts"
import { instant, whole } from "./fields.ts"
import { pauseBody, pauseOf } from "./pause-fields.ts"
import { change, ok, route } from "./route.ts"

const pauseRecord = z
  .strictObject({
    kind: z.enum(PAUSE_KINDS),
    name: z.string().optional().openapi({ description: "Absent if everything is paused." }),
    pausedAt: instant,
    until: instant.optional(),
    ramp: z.strictObject({ until: instant, parked: whole, released: whole }).optional(),
    actor: z.string(),
    reason: z.string(),
  })
  .openapi("Pause")

const pauses = z.strictObject({ items: z.array(pauseRecord) })

export const pauseRoutes = [
  route({
    method: "get",
    path: "/pauses",
    scope: "read",
    summary: "Lists what is paused.",
    answers: { 200: pauses },
    handle: async ({ carillon, signal }) => ok({ items: await carillon.pauses.list({ signal }) }),
  }),
  route({
    method: "post",
    path: "/everything/pause",
    scope: "operate",
    summary: "Stops all claims. Running handlers continue, and schedules make runs, which wait.",
    body: pauseBody,
    answers: { 200: pauses },
    handle: async (call) => {
      await call.carillon.everything.pause(pauseOf(call))
      return ok({ items: await call.carillon.pauses.list({ signal: call.signal }) })
    },
  }),
  route({
    method: "post",
    path: "/everything/resume",
    scope: "operate",
    summary: "Ends that pause. What is paused by its own name stays paused.",
    body: change({}),
    answers: { 200: pauses },
    handle: async (call) => {
      await call.carillon.everything.resume(call.by)
      return ok({ items: await call.carillon.pauses.list({ signal: call.signal }) })
    },
  }),
]
