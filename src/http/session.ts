/** The route that tells a caller who it is here, and what this server is. */
import { z } from "@hono/zod-openapi"
import { given } from "./fields.ts"
import { packageVersion } from "./package-version.ts"
import { ok, route } from "./route.ts"

/** What `admin` stands for. */
const ALL = ["read", "enqueue", "work", "operate", "admin"] as const

export const sessionRecord = z
  .strictObject({
    actor: z.string().optional().openapi({ description: "Whom the audit names." }),
    scopes: z.array(z.enum(ALL)),
    tenant: z.string().optional().openapi({ description: "The only tenant that the caller knows of." }),
    environment: z.enum(["production", "staging", "development"]),
    version: z.string().openapi({ description: "The version of Carillon." }),
  })
  .openapi("Session")

export const sessionRoutes = [
  route({
    method: "get",
    path: "/session",
    scope: "any",
    ofTenant: true,
    summary: "Tells who the caller is, what it may do, and what this server is.",
    answers: { 200: sessionRecord },
    handle: async ({ caller: { actor, scopes, tenant }, environment }) => {
      const all = scopes.includes("admin") ? ALL : scopes
      return ok({ ...given({ actor, tenant }), scopes: all, environment, version: await packageVersion() })
    },
  }),
]
