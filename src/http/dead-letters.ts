/** The routes about dead letters. */
import { z } from "@hono/zod-openapi"
import { CarillonError, RunError } from "../errors.ts"
import { given, id, instant, json, pageOf, pageQuery, whole, wholeNumber } from "./fields.ts"
import { type Caller, change, found, ok, route, type Surroundings } from "./route.ts"
import { runRecord, runState } from "./run-records.ts"
import { ownRun } from "./runs.ts"
import { ifOwn, tenantOf } from "./tenancy.ts"

const MOST_COUNTED = 1_000_000

/** Dead letters of one job whose errors are likely the same. */
export const groupRecord = z
  .strictObject({
    job: z.string(),
    fingerprint: z.string(),
    state: z.enum(["open", "ignored", "resolved", "regressed"]),
    resolvedIn: z.string().optional(),
    decidedAt: instant.optional(),
    count: whole,
    capped: z.boolean(),
    firstSeen: instant.optional(),
    lastSeen: instant.optional(),
    tenants: z.array(z.string()),
    sample: z.strictObject({ id, code: z.string().optional(), message: z.string() }).optional(),
  })
  .openapi("DeadLetterGroup")

const which = {
  job: z.string().optional(),
  fingerprint: z.string().optional(),
  tenant: z.string().optional(),
}

const DECISIONS = {
  resolve: "Says that the cause of a group is fixed.",
  ignore: "Says that a group needs no work.",
  reopen: "Takes back what was decided about a group.",
} as const

const oneLetter = z.strictObject({ id: z.string() })
const oneGroup = z.strictObject({ job: z.string(), fingerprint: z.string() })
const upTo = wholeNumber({ min: 1, max: MOST_COUNTED }).optional()
const several = {
  ...which,
  limit: z.int().optional().openapi({ description: "How many at the most: 1 to 1000, the newest first." }),
}

export const deadLetterRoutes = [
  route({
    method: "get",
    path: "/dead-letters",
    scope: "read",
    ofTenant: true,
    summary: "Lists dead letters, the newest first.",
    query: z.strictObject({ ...which, ...pageQuery }),
    answers: { 200: pageOf(runRecord, { searched: z.int().optional() }) },
    handle: async ({ carillon, caller, query: { limit, cursor, tenant, ...filter }, signal }) => {
      const wanted = lettersOf(caller, { ...filter, tenant })
      return ok(await carillon.deadLetters.list({ filter: wanted, ...given({ limit, cursor }), signal }))
    },
  }),
  route({
    method: "get",
    path: "/dead-letters/groups",
    scope: "read",
    summary: "Lists dead letters by job and error.",
    query: z.strictObject({ job: which.job, upTo, ...pageQuery }),
    answers: { 200: pageOf(groupRecord) },
    handle: async ({ carillon, query, signal }) =>
      ok(await carillon.deadLetters.groups({ ...given(query), signal })),
  }),
  route({
    method: "get",
    path: "/dead-letters/groups/{job}/{fingerprint}",
    scope: "read",
    summary: "Reads a group of dead letters.",
    params: oneGroup,
    query: z.strictObject({ upTo }),
    answers: { 200: groupRecord },
    handle: async (call) => ok(await groupOf(call, given(call.query))),
  }),
  ...(["resolve", "ignore", "reopen"] as const).map((verb) =>
    route({
      method: "post",
      path: `/dead-letters/groups/{job}/{fingerprint}/${verb}`,
      scope: "operate",
      summary: DECISIONS[verb],
      params: oneGroup,
      body: verb === "resolve" ? change({ version: z.string().optional() }) : change({}),
      answers: { 200: groupRecord },
      handle: async (call) => {
        const { version } = call.body as { readonly version?: string }
        await call.carillon.deadLetters[verb](call.params, { ...call.by, ...given({ version }) })
        return ok(await groupOf(call))
      },
    }),
  ),
  route({
    method: "post",
    path: "/dead-letters/replay",
    scope: "operate",
    ofTenant: true,
    summary: "Replays the dead letters that meet a filter.",
    body: change({
      ...several,
      canary: z.boolean().optional(),
      rate: z.string().optional().openapi({ example: "50/s" }),
    }),
    answers: {
      200: z.strictObject({
        replayed: whole,
        canary: z.strictObject({ run: id, state: runState }).optional(),
        more: z.boolean(),
      }),
    },
    handle: async ({ carillon, caller, body, by, signal }) => {
      const { job, fingerprint, tenant, limit, canary, rate } = body
      const filter = lettersOf(caller, { job, fingerprint, tenant })
      const options = { ...by, ...given({ limit, canary, rate }), signal }
      return ok(await carillon.deadLetters.replay(filter, options))
    },
  }),
  route({
    method: "post",
    path: "/dead-letters/discard",
    scope: "operate",
    ofTenant: true,
    summary: "Discards the dead letters that meet a filter, for good.",
    body: change(several),
    answers: { 200: z.strictObject({ discarded: whole, more: z.boolean() }) },
    handle: async ({ carillon, caller, body, by, signal }) => {
      const { job, fingerprint, tenant, limit } = body
      const filter = lettersOf(caller, { job, fingerprint, tenant })
      return ok(await carillon.deadLetters.discard(filter, { ...by, ...given({ limit }), signal }))
    },
  }),
  route({
    method: "get",
    path: "/dead-letters/{id}",
    scope: "read",
    ofTenant: true,
    summary: "Reads the dead letter of a run.",
    params: oneLetter,
    answers: { 200: runRecord },
    handle: async (call) => ok(await ownLetter(call)),
  }),
  route({
    method: "post",
    path: "/dead-letters/{id}/replay",
    scope: "operate",
    ofTenant: true,
    summary: "Makes a dead run live again, with all its attempts.",
    params: oneLetter,
    body: change({}),
    answers: { 200: runRecord },
    handle: async (call) => {
      const { id: run } = await ownLetter(call)
      await call.carillon.deadLetters.replay(run, call.by)
      return ok(await ownRun(call, run))
    },
  }),
  route({
    method: "post",
    path: "/dead-letters/{id}/edit-and-replay",
    scope: "operate",
    ofTenant: true,
    summary: "Replays a dead run with another input.",
    params: oneLetter,
    body: change({ input: json }),
    answers: { 200: runRecord },
    handle: async (call) => {
      const { id: run } = await ownLetter(call)
      await call.carillon.deadLetters.editAndReplay(run, call.body.input, call.by)
      return ok(await ownRun(call, run))
    },
  }),
  route({
    method: "post",
    path: "/dead-letters/{id}/discard",
    scope: "operate",
    ofTenant: true,
    summary: "Removes a dead letter for good. History keeps its attempts.",
    params: oneLetter,
    body: change({}),
    answers: { 200: runRecord },
    handle: async (call) => {
      const { id: run } = await ownLetter(call)
      await call.carillon.deadLetters.discard(run, call.by)
      return ok(await ownRun(call, run))
    },
  }),
]

interface Wanted {
  readonly job?: string | undefined
  readonly fingerprint?: string | undefined
  readonly tenant?: string | undefined
}

/** The name of a tenant may end with the `*` with which a filter means a beginning. */
function lettersOf(caller: Caller, { job, fingerprint, tenant: named }: Wanted) {
  const { tenant } = tenantOf(caller, named)
  return { ...given({ job, fingerprint }), ...(tenant !== undefined && { tenant: { exactly: tenant } }) }
}

type OnGroup = Surroundings & { readonly params: z.output<typeof oneGroup> }

async function groupOf({ carillon, params, signal }: OnGroup, options: { readonly upTo?: number } = {}) {
  const group = await carillon.deadLetters.group(params, { ...options, signal })
  const message = `Job ${JSON.stringify(params.job)} has no dead letters with this fingerprint.`
  // A reopened group without letters is gone, and open all the same.
  return found(group, () => new CarillonError("NOT_FOUND", message))
}

async function ownLetter({
  carillon,
  caller,
  params,
  signal,
}: Surroundings & { readonly params: { id: string } }) {
  const letter = await carillon.deadLetters.get(params.id, { signal })
  const message = `Run ${params.id} has no dead letter.`
  return found(ifOwn(caller, letter), () => new RunError("RUN_NOT_FOUND", params.id, message))
}
