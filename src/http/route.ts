/** What a route is: its path, who may call it, what it takes and what it answers. */
import { z } from "@hono/zod-openapi"
import type { ByWhom } from "../api/actor.ts"
import type { Carillon } from "../api/carillon.ts"
import { OptionsError } from "../errors.ts"
import { given } from "./fields.ts"
import { type Parsed, parse } from "./parse.ts"

export type Method = "get" | "post" | "put" | "patch" | "delete"

/** What a token may do. `admin` may do everything. */
export type Scope = "read" | "enqueue" | "work" | "operate" | "admin"

/** Who makes a request. */
export interface Caller {
  /** Whom the audit names. Absent for the actor of the process. */
  readonly actor?: string
  readonly scopes: readonly Scope[]
  /** The only tenant that the caller knows of. */
  readonly tenant?: string
}

/** A request as the framework has taken it apart, before any check. */
export interface RawRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
}

/** Where a server runs, for people who must not mistake one for another. */
export type Environment = "production" | "staging" | "development"

/** What every route may use. */
export interface Surroundings {
  readonly carillon: Carillon
  readonly caller: Caller
  readonly headers: Headers
  readonly environment: Environment
  /** Aborts when the client leaves. For reads. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  /** Answered as JSON. Absent for an answer without a body. */
  readonly body?: unknown
  /** Answered as a page, instead of a body. */
  readonly page?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route {
  readonly method: Method
  /** Below `/api/v1`, as in `/runs/{id}`. */
  readonly path: string
  /** The scope that a token needs. `any` valid token may use the route. */
  readonly scope: Scope | "any"
  /** Whether a caller with a tenant may use it. Without, it tells about all tenants or changes things of all. */
  readonly ofTenant: boolean
  readonly summary: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | undefined
  /** The most bytes of a body. */
  readonly bodyBytes: number
  /** The headers that the route reads in addition to those of every route. They document it: it reads them itself. */
  readonly headers: z.ZodObject
  /** The schema of the body of each status. */
  readonly answers: Readonly<Record<number, z.ZodType>>
  readonly answer: (raw: RawRequest, surroundings: Surroundings) => Promise<Answer>
}

interface RouteDefinition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>
  extends Pick<Route, "method" | "path" | "scope" | "summary" | "answers"> {
  readonly ofTenant?: true
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly bodyBytes?: number
  readonly headers?: z.ZodObject
  readonly handle: (call: Call<z.output<Params>, z.output<Query>, z.output<Body>>) => Promise<Answer>
}

/** A request that was read by the schemas of its route. */
export interface Call<Params, Query, Body> extends Surroundings {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The actor and the reason for the audit. */
  readonly by: ByWhom
}

const NOTHING = z.strictObject({})
const WHY = { reason: z.string().optional().openapi({ description: "Why, for the audit." }) }

/** An input of the largest size, with room for the rest. */
const BODY_BYTES = 2 * 1024 * 1024

/** Defines a route. Its handler gets what the schemas have read. */
export function route<
  Params extends z.ZodObject = typeof NOTHING,
  Query extends z.ZodObject = typeof NOTHING,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Params, Query, Body>): Route {
  const { handle, method, path, scope, summary, answers, body, bodyBytes = BODY_BYTES } = definition
  const params = definition.params ?? NOTHING
  const query = method === "get" ? (definition.query ?? NOTHING) : (definition.query ?? NOTHING).extend(WHY)
  return {
    ...{ method, path, scope, summary, answers, params, query, body, bodyBytes },
    headers: definition.headers ?? NOTHING,
    ofTenant: definition.ofTenant ?? false,
    answer: async (raw, surroundings) => {
      const read = {
        params: parse(params, raw.params),
        query: parse(query, raw.query),
        // A body that may be left out is an object without members.
        body: body ? parse(body, raw.body ?? {}) : { value: undefined },
      }
      const values = allOf(`${method.toUpperCase()} ${path}`, read)
      const { actor } = surroundings.caller
      const by = given({ actor, reason: reasonOf(values["body"]) ?? reasonOf(values["query"]) })
      // Each value was read by the schema that gives it this type.
      return handle({ ...surroundings, ...values, by } as Parameters<typeof handle>[0])
    },
  }
}

/** The body of a change: its fields, and the reason for the audit. */
export function change<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...shape, ...WHY })
}

function reasonOf(part: unknown): string | undefined {
  return (part as { readonly reason?: string } | undefined)?.reason
}

/** The values, or all faults of all parts in one error. */
function allOf(subject: string, parts: Readonly<Record<string, Parsed<unknown>>>): Record<string, unknown> {
  const faults = Object.values(parts).flatMap((part) => part.faults ?? [])
  if (faults.length > 0) throw new OptionsError(subject, faults)
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, "value" in part && part.value]),
  )
}

/** An answer with status 200. */
export function ok(body: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return { status: 200, body, ...(headers && { headers }) }
}

/** The record, or the error for something that is not there. */
export function found<T>(record: T | undefined, error: () => Error): T {
  if (record === undefined) throw error()
  return record
}
