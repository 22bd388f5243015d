/** The route that reads the audit. */
import { z } from "@hono/zod-openapi"
import { given, id, instant, instantGiven, json, pageOf, pageQuery } from "./fields.ts"
import { ok, route } from "./route.ts"

export const auditEntry = z
  .strictObject({
    id,
    at: instant,
    actor: z.string(),
    action: z.string(),
    subject: z.string(),
    reason: z.string(),
    before: json.optional(),
    after: json.optional(),
  })
  .openapi("AuditEntry")

export const auditRoutes = [
  route({
    method: "get",
    path: "/audit",
    scope: "read",
    summary: "Lists who changed what, and why, the newest first.",
    query: z.strictObject({
      subject: z.string().optional().openapi({ example: "job:email.send" }),
      actor: z.string().optional(),
      action: z.string().optional().openapi({ example: "run.cancel" }),
      from: instantGiven.optional(),
      to: instantGiven.optional(),
      ...pageQuery,
    }),
    answers: { 200: pageOf(auditEntry) },
    handle: async ({ carillon, query, signal }) => ok(await carillon.audit.list({ ...given(query), signal })),
  }),
]
