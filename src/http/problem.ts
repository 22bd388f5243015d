/** Errors as `application/problem+json` (RFC 9457). */
import { z } from "@hono/zod-openapi"
import {
  CarillonError,
  CronError,
  ERROR_TABLE,
  type ErrorCode,
  type Fault,
  FilterError,
  InputError,
  OptionsError,
  PayloadError,
} from "../errors.ts"
import { STATUSES } from "./statuses.ts"

/** What a client is told about an error. */
export interface Problem {
  readonly code: ErrorCode
  readonly title: string
  readonly status: number
  /** What happened, in one sentence or a few. */
  readonly detail: string
  /** What is wrong in the request: a JSON pointer into the body, or the name of a parameter behind a slash. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[]
  /** What to do about it. */
  readonly hint: string
  readonly requestId: string
  /** Whether a repeat of the same request can succeed. */
  readonly retryable: boolean
}

/** The same, for the documentation. */
export const problemRecord = z
  .strictObject({
    code: z.string().openapi({
      description: "Stable, and the same as in the library.",
      example: "OPTIONS_INVALID",
    }),
    title: z.string().openapi({ description: "The code in words.", example: "Options invalid" }),
    status: z.int().openapi({ example: 400 }),
    detail: z.string().openapi({ description: "What happened." }),
    errors: z
      .array(z.strictObject({ pointer: z.string(), message: z.string() }))
      .optional()
      .openapi({
        description:
          "What is wrong in the request: a JSON pointer into the body, or the name of a parameter behind a slash.",
      }),
    hint: z.string().openapi({ description: "What to do about it." }),
    requestId: z.string().openapi({ description: "The same as the header `X-Request-Id`." }),
    retryable: z.boolean().openapi({ description: "Whether a repeat of the same request can succeed." }),
  })
  .openapi("Problem")

const FAILED = 500

/** Anything that is thrown, as a problem. An error of the server tells its client no more than its code. */
export function problemOf(error: unknown, requestId: string): Problem {
  const code = error instanceof CarillonError ? error.code : "INTERNAL"
  const { means, todo, retryable } = ERROR_TABLE[code]
  const status = STATUSES[code]
  const errors = pointersOf(error)
  return {
    code,
    title: titleOf(code),
    status,
    detail: status < FAILED && error instanceof CarillonError ? error.message : means,
    ...(errors.length > 0 && { errors }),
    hint: error instanceof CronError ? error.hint : todo,
    requestId,
    retryable,
  }
}

/** `RUN_NOT_FOUND` is "Run not found". */
function titleOf(code: ErrorCode): string {
  const words = code.toLowerCase().replaceAll("_", " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function pointersOf(error: unknown): { pointer: string; message: string }[] {
  return faultsOf(error).map(({ path, message }) => ({ pointer: pointerOf(path), message }))
}

function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof OptionsError) return error.faults
  if (error instanceof FilterError) {
    return error.faults.map(({ message, position }) => ({
      path: "filter",
      message: position === undefined ? message : `character ${position + 1}: ${message}`,
    }))
  }
  if (error instanceof InputError) return error.issues.map(inInput)
  if (error instanceof PayloadError) return [inInput({ path: error.path, message: error.message })]
  return []
}

function inInput({ path, message }: Fault): Fault {
  return { path: path === "" || path.startsWith("items[") ? path || "input" : `input.${path}`, message }
}

const STEP = /\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g

/** The path of a fault as a JSON pointer: `items[2].name` is `/items/2/name`. */
export function pointerOf(path: string): string {
  if (path === "(options)") return ""
  const steps = [...path.matchAll(STEP)].map(([, index, quoted, plain]) => index ?? quoted ?? plain ?? "")
  return steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}
