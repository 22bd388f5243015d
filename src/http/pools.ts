/** The routes about pools, and the records that tell how a pool stands. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { instant, whole } from "./fields.ts"
import { found, ok, route } from "./route.ts"

/** Who paused something, and why. */
export const pauseNote = z.strictObject({
  at: instant,
  until: instant.optional(),
  actor: z.string(),
  reason: z.string(),
})

export const poolRecord = z
  .strictObject({
    name: z.string(),
    waiting: whole,
    parked: whole,
    ready: whole,
    running: whole,
    capped: z.boolean(),
    oldestDueAt: instant.optional(),
    workers: whole,
    slots: whole,
    used: whole,
    paused: pauseNote.optional(),
  })
  .openapi("Pool")

export const poolRoutes = [
  route({
    method: "get",
    path: "/pools",
    scope: "read",
    summary: "Lists pools by name, with what waits in them.",
    answers: { 200: z.strictObject({ items: z.array(poolRecord) }) },
    handle: async ({ carillon, signal }) => ok({ items: await carillon.pools.list({ signal }) }),
  }),
  route({
    method: "get",
    path: "/pools/{name}",
    scope: "read",
    summary: "Reads a pool.",
    params: z.strictObject({ name: z.string() }),
    answers: { 200: poolRecord },
    handle: async ({ carillon, params: { name }, signal }) =>
      ok(found(await carillon.pools.get(name, { signal }), () => noPool(name))),
  }),
]

function noPool(name: string): CarillonError {
  return new CarillonError("NOT_FOUND", `There is no pool ${JSON.stringify(name)}.`)
}
