/** The route that lists what is paused. */
import { z } from "@hono/zod-openapi"
import { instant } from "./fields.ts"
import { ok, route } from "./route.ts"

const pauseRecord = z
  .strictObject({
    kind: z.enum(["job", "pool"]),
    name: z.string(),
    pausedAt: instant,
    actor: z.string(),
    reason: z.string(),
  })
  .openapi("Pause")

export const pauseRoutes = [
  route({
    method: "get",
    path: "/pauses",
    scope: "read",
    summary: "Lists the paused jobs and pools.",
    answers: { 200: z.strictObject({ items: z.array(pauseRecord) }) },
    handle: async ({ carillon, signal }) => ok({ items: await carillon.pauses({ signal }) }),
  }),
]
