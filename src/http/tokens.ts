/** The routes about tokens, and about the caller of a request. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"
import { duration, given, instant, listOf, pageOf, pageQuery } from "./fields.ts"
import { change, ok, route } from "./route.ts"

const scope = z.enum(["read", "enqueue", "work", "operate", "admin"])
const MOST_SCOPES = 100

const tokenRecord = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(scope),
    tenant: z.string().optional(),
    createdAt: instant,
    createdBy: z.string(),
    expiresAt: instant.optional(),
    revokedAt: instant.optional(),
  })
  .openapi("Token")

export const tokenRoutes = [
  route({
    method: "get",
    path: "/me",
    scope: "any",
    ofTenant: true,
    summary: "Says who the caller is, and what the caller may do.",
    answers: {
      200: z.strictObject({
        actor: z.string().optional(),
        scopes: z.array(scope),
        tenant: z.string().optional(),
      }),
    },
    handle: async ({ caller: { actor, scopes, tenant } }) => ok({ actor, scopes, tenant }),
  }),
  route({
    method: "get",
    path: "/tokens",
    scope: "admin",
    summary: "Lists tokens, also revoked ones, without their secrets.",
    query: z.strictObject(pageQuery),
    answers: { 200: pageOf(tokenRecord) },
    handle: async ({ carillon, query, signal }) =>
      ok(await carillon.tokens.list({ ...given(query), signal })),
  }),
  route({
    method: "post",
    path: "/tokens",
    scope: "admin",
    summary: "Creates a token. The answer has its text, which cannot be read again.",
    body: change({
      name: z.string(),
      scopes: listOf(scope, MOST_SCOPES),
      tenant: z.string().optional(),
      expiresIn: duration.optional(),
    }),
    answers: {
      201: z.strictObject({
        id: z.string(),
        token: z.string(),
        createdAt: instant,
        expiresAt: instant.optional(),
      }),
    },
    handle: async ({ carillon, body, by }) => {
      const { name, scopes, tenant, expiresIn } = body
      const options = { ...by, name, scopes, ...given({ tenant, expiresIn }) }
      return { status: 201, body: await carillon.tokens.create(options) }
    },
  }),
  route({
    method: "delete",
    path: "/tokens/{id}",
    scope: "admin",
    summary: "Revokes a token.",
    params: z.strictObject({ id: z.string() }),
    answers: { 204: z.undefined() },
    handle: async ({ carillon, params: { id }, by }) => {
      if (!(await carillon.tokens.revoke(id, by))) {
        throw new CarillonError("NOT_FOUND", `There is no valid token ${id}.`)
      }
      return { status: 204 }
    },
  }),
]
