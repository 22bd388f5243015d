/** A job: a name, its settings and the code that executes its runs. Defining one does no work. */
import { InputError } from "../errors.ts"
import { assertOptions } from "../options/check.ts"
import type { JobContext } from "./context.ts"
import { type JobSettings, jobCheck, type ResolvedJob, resolveJob } from "./options.ts"
import { decodePayload } from "./payload.ts"
import { type InputOf, type OutputOf, type StandardSchema, validate } from "./standard-schema.ts"
import type { Verdict } from "./verdict.ts"

/** Marks what `defineJob` made. Registered, so that two copies of this package know each other's jobs. */
const JOB = Symbol.for("carillon.job")

/** What callers pass, what the handler gets and what it returns. */
export interface Job<Input = unknown, Output = unknown> extends ResolvedJob {
  /**
   * Checks an input as it will come out of the database. Throws an `InputError` with every fault; a promise where there
   * is a schema to ask.
   */
  readonly parse: (json: string) => unknown
  /** Whether there is a schema to ask. */
  readonly hasSchema: boolean
  /** Executes one attempt with a parsed input. */
  readonly execute: (input: unknown, ctx: JobContext) => Output | Promise<Output>
  /** Only for the compiler, never there: what `enqueue` accepts. */
  readonly accepts?: (input: Input) => void
}

/** Any job, whatever it takes and returns. */
export type AnyJob = Job<never, unknown>

/**
 * Defines a job.
 *
 * With a schema as `input`, inputs are checked when they are enqueued and again before the handler starts,
 * and the handler gets what the schema makes of them.
 *
 * @example
 * const sendEmail = defineJob({
 *   name: "email.send",
 *   input: z.object({ to: z.email() }),
 *   timeout: "30s",
 *   async run(input, ctx) {
 *     await mailer.send(input.to, { signal: ctx.signal })
 *   },
 * })
 */
export function defineJob<Schema extends StandardSchema, Output>(
  options: JobSettings & {
    readonly input: Schema
    readonly run: (input: OutputOf<Schema>, ctx: JobContext) => Promise<Output> | Output
  },
): Job<InputOf<Schema>, Exclude<Awaited<Output>, Verdict>>
export function defineJob<Input = undefined, Output = void>(
  options: JobSettings & {
    readonly run: (input: Input, ctx: JobContext) => Promise<Output> | Output
  },
): Job<Input, Exclude<Awaited<Output>, Verdict>>
export function defineJob(
  options: JobSettings & {
    readonly input?: StandardSchema
    readonly run: (input: never, ctx: JobContext) => unknown
  },
): Job {
  assertOptions("defineJob", options, jobCheck)
  const { input: schema, run } = options
  return Object.freeze({
    [JOB]: true,
    ...resolveJob(options),
    hasSchema: schema !== undefined,
    parse: (json: string) => {
      const value = decodePayload(json)
      return schema ? checked(options.name, schema, value) : value
    },
    execute: (input: unknown, ctx: JobContext) => run(input as never, ctx),
  })
}

async function checked(job: string, schema: StandardSchema, value: unknown): Promise<unknown> {
  const result = await validate(schema, value)
  if ("faults" in result) throw new InputError(job, result.faults)
  return result.value
}

/** Whether a value was made by `defineJob`, in whatever copy of this package. */
export function isJob(value: unknown): value is AnyJob {
  return typeof value === "object" && value !== null && Object.hasOwn(value, JOB)
}
