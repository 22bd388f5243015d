/** What a route is: its path, who may call it, what it takes and what it answers. */
import { z } from "@hono/zod-openapi"
import type { Carillon } from "../api/carillon.ts"
import { OptionsError } from "../errors.ts"
import { type Parsed, parse } from "./parse.ts"

export type Method = "get" | "post" | "put" | "patch" | "delete"

/** What a token may do. `admin` may do everything. */
export type Scope = "read" | "enqueue" | "work" | "operate" | "admin"

/** A request as the framework has taken it apart, before any check. */
export interface RawRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
}

/** What every route may use. */
export interface Surroundings {
  readonly carillon: Carillon
  readonly request: Request
  /** Aborts when the client leaves. For reads. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  /** Answered as JSON. Absent for an answer without a body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route {
  readonly method: Method
  /** Below `/api/v1`, as in `/runs/{id}`. */
  readonly path: string
  readonly scope: Scope
  readonly summary: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | undefined
  /** The schema of the body of each status. */
  readonly answers: Readonly<Record<number, z.ZodType>>
  readonly answer: (raw: RawRequest, surroundings: Surroundings) => Promise<Answer>
}

interface RouteDefinition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>
  extends Pick<Route, "method" | "path" | "scope" | "summary" | "answers"> {
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly handle: (
    call: Surroundings & {
      readonly params: z.output<Params>
      readonly query: z.output<Query>
      readonly body: z.output<Body>
    },
  ) => Promise<Answer>
}

const NOTHING = z.strictObject({})

/** Defines a route. Its handler gets what the schemas have read. */
export function route<
  Params extends z.ZodObject = typeof NOTHING,
  Query extends z.ZodObject = typeof NOTHING,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Params, Query, Body>): Route {
  const { handle, ...facts } = definition
  const params = definition.params ?? NOTHING
  const query = definition.query ?? NOTHING
  const { body } = definition
  return {
    ...facts,
    params,
    query,
    body,
    answer: async (raw, surroundings) => {
      const read = {
        params: parse(params, raw.params),
        query: parse(query, raw.query),
        body: body ? parse(body, raw.body) : { value: undefined },
      }
      const values = allOf(`${definition.method.toUpperCase()} ${definition.path}`, read)
      // Each value was read by the schema that gives it this type.
      return handle({ ...surroundings, ...values } as Parameters<typeof handle>[0])
    },
  }
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
export function ok(body: unknown): Answer {
  return { status: 200, body }
}

/** The record, or the error for something that is not there. */
export function found<T>(record: T | undefined, error: () => Error): T {
  if (record === undefined) throw error()
  return record
}
