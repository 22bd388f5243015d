/** The routes about pools, and the records that tell how a pool stands. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { instant, whole } from "./fields.ts"
import { pauseBody, pauseNote, pauseOf } from "./pause-fields.ts"
import { change, found, ok, route, type Surroundings } from "./route.ts"

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

const onePool = z.strictObject({ name: z.string() })

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
    params: onePool,
    answers: { 200: poolRecord },
    handle: async (call) => ok(await poolOf(call)),
  }),
  route({
    method: "post",
    path: "/pools/{name}/pause",
    scope: "operate",
    summary: "Stops claims of the runs of a pool. Running handlers continue.",
    params: onePool,
    body: pauseBody,
    answers: { 200: poolRecord },
    handle: async (call) => {
      await call.carillon.pools.pause(call.params.name, pauseOf(call))
      return ok(await poolOf(call))
    },
  }),
  route({
    method: "post",
    path: "/pools/{name}/resume",
    scope: "operate",
    summary: "Ends the pause of a pool.",
    params: onePool,
    body: change({}),
    answers: { 200: poolRecord },
    handle: async (call) => {
      // Without its pause, an empty pool may be gone.
      const before = await poolOf(call)
      await call.carillon.pools.resume(call.params.name, call.by)
      const { paused: _, ...resumed } = before
      return ok((await call.carillon.pools.get(call.params.name, { signal: call.signal })) ?? resumed)
    },
  }),
]

async function poolOf({ carillon, params, signal }: Surroundings & { readonly params: { name: string } }) {
  return found(await carillon.pools.get(params.name, { signal }), () => noPool(params.name))
}

function noPool(name: string): CarillonError {
  return new CarillonError("NOT_FOUND", `There is no pool ${JSON.stringify(name)}.`)
}
