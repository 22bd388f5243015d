/** What a request and an answer say about a pause. */
import { z } from "@hono/zod-openapi"
import type { ByWhom } from "../api/actor.ts"
import { duration, given, instant, instantGiven } from "./fields.ts"
import { change } from "./route.ts"

/** Who paused something, and why. */
export const pauseNote = z.strictObject({
  at: instant,
  until: instant.optional(),
  actor: z.string(),
  reason: z.string(),
})

/** Without an end, a pause lasts until an operator ends it. */
export const pauseBody = change({ until: instantGiven.optional(), for: duration.optional() })

export function pauseOf(call: { readonly by: ByWhom; readonly body: z.output<typeof pauseBody> }) {
  const { until, for: lasting } = call.body
  return { ...call.by, ...given({ until, for: lasting }) }
}
