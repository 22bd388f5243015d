/** The document of all routes in OpenAPI 3.1, made of the schemas that read their requests. */
import { STATUS_CODES } from "node:http"
import { OpenAPIHono, z } from "@hono/zod-openapi"
import { operationIdOf } from "./operation-id.ts"
import { problemRecord } from "./problem.ts"
import type { Route } from "./route.ts"
import { SESSION_COOKIE } from "./session-cookie.ts"
import { STATUSES } from "./statuses.ts"

/** A schema of the document, as far as the page of the documentation reads it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly example?: unknown
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: Schema
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly [string]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly description?: string; readonly content?: Content }>
  >
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface ApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly [{ readonly url: string }]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, { readonly description: string }>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

const JSON_TYPE = "application/json"
const PROBLEM_TYPE = "application/problem+json"

const ABOUT =
  "Every request needs a token with the scope of its route. A field or a parameter that a route does not know is " +
  "refused. An error is a `Problem`, which names every fault of a request at once."

const actorHeader = z.strictObject({
  "X-Carillon-Actor": z
    .string()
    .optional()
    .openapi({ description: "Who asks for the change, for the audit." }),
})

/** The statuses that every route answers. */
const ALWAYS = [400, 401, 403, 421, 429, 500, 503, 504]

/** Paths are relative to `api/v1` beside the document, so they are right behind a proxy that takes a prefix away. */
export function createDocument(routes: readonly Route[], version: string): ApiDocument {
  const app = new OpenAPIHono()
  const registry = app.openAPIRegistry
  registry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "A token of `carillon.tokens`. The roles of a route are the scope that it needs.",
  })
  registry.registerComponent("securitySchemes", "cookie", {
    type: "apiKey",
    in: "cookie",
    name: SESSION_COOKIE,
    description: "The session of a browser, from `POST /api/v1/session` with `{ token }`.",
  })
  registry.register("Problem", problemRecord)
  const failures = new Set(routes.flatMap(failuresOf))
  for (const status of failures) {
    registry.registerComponent("responses", nameOfFailure(status), {
      description: meaningOf(status),
      content: { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
    })
  }
  for (const route of routes) registry.registerPath(pathOf(route, routes))
  const tags = [...new Set(routes.map(tagOf))].map((name) => ({ name }))
  const info = { title: "Carillon", version, description: ABOUT }
  const document = app.getOpenAPI31Document({ openapi: "3.1.0", info, servers: [{ url: "api/v1" }], tags })
  // The parts that the type names are those that were registered above.
  return document as unknown as ApiDocument
}

type RegisteredPath = Parameters<OpenAPIHono["openAPIRegistry"]["registerPath"]>[0]

function pathOf(route: Route, routes: readonly Route[]): RegisteredPath {
  const { method, path, summary, params, query, body } = route
  const roles = route.scope === "any" ? [] : [route.scope]
  const headers = method === "get" ? route.headers : route.headers.extend(actorHeader.shape)
  return {
    ...{ method, path, summary },
    operationId: operationIdOf(route, routes),
    tags: [tagOf(route)],
    description: accessOf(route),
    security: [{ bearer: roles }, { cookie: roles }],
    request: {
      ...{ params, query, headers },
      ...(body && {
        body: { content: { [JSON_TYPE]: { schema: body } }, required: !body.safeParse({}).success },
      }),
    },
    responses: { ...answersOf(route), ...referencesOf(failuresOf(route)) },
  }
}

/** The noun of a route: the first part of its path. */
function tagOf({ path }: Route): string {
  return path.split("/")[1] ?? path
}

function accessOf({ scope, ofTenant }: Route): string {
  const needs = scope === "any" ? "It needs any valid token." : `It needs the scope \`${scope}\`.`
  return ofTenant ? needs : `${needs} A token that is bound to a tenant may not use it.`
}

function answersOf({ answers }: Route): RegisteredPath["responses"] {
  const entries = Object.entries(answers).map(([status, schema]) => {
    const description = STATUS_CODES[status] ?? status
    const hasBody = !(schema instanceof z.ZodUndefined)
    return [status, { description, ...(hasBody && { content: { [JSON_TYPE]: { schema } } }) }]
  })
  return Object.fromEntries(entries) as RegisteredPath["responses"]
}

function referencesOf(statuses: readonly number[]): RegisteredPath["responses"] {
  const entries = statuses.map((status) => [
    status,
    { $ref: `#/components/responses/${nameOfFailure(status)}` },
  ])
  return Object.fromEntries(entries) as RegisteredPath["responses"]
}

/** The statuses of the errors that a route can answer. */
function failuresOf({ method, scope, path, headers, body }: Route): number[] {
  const isChange = method !== "get" && scope !== "read"
  return [
    ...ALWAYS,
    ...(isChange || path.includes("{") ? [404] : []),
    ...(isChange ? [409] : []),
    ...("If-Match" in headers.shape ? [412] : []),
    ...(body ? [413, 415] : []),
    ...(isChange || body ? [422] : []),
    ...(headers.shape["If-Match"] && !headers.shape["If-Match"].safeParse(undefined).success ? [428] : []),
  ].toSorted((a, b) => a - b)
}

function nameOfFailure(status: number): string {
  return `Problem${status}`
}

/** The status in words and, unless the server is to blame, the codes that have it. */
function meaningOf(status: number): string {
  const words = STATUS_CODES[status] ?? `Status ${status}`
  if (status === STATUSES.INTERNAL) return `${words}.`
  const codes = Object.entries(STATUSES).filter(([, own]) => own === status)
  return `${words}: ${codes.map(([code]) => `\`${code}\``).join(", ")}.`
}
