/** The route that lists what is paused. */
import { z } from "@hono/zod-openapi"
import { PAUSE_KINDS } from "../queue/pause-kind.ts"
import { instant } from "./fields.ts"
import { ok, route } from "./route.ts"

const pauseRecord = z
  .strictObject({
    kind: z.enum(PAUSE_KINDS),
    name: z.string().optional().openapi({ description: "Absent if everything is paused." }),
    pausedAt: instant,
    until: instant.optional(),
    actor: z.string(),
    reason: z.string(),
  })
  .openapi("Pause")

export const pauseRoutes = [
  route({
    method: "get",
    path: "/pauses",
    scope: "read",
    summary: "Lists what is paused.",
    answers: { 200: z.strictObject({ items: z.array(pauseRecord) }) },
    handle: async ({ carillon, signal }) => ok({ items: await carillon.pauses.list({ signal }) }),
  }),
]
