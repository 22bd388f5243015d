/** A job: a name, its settings and the code that executes its runs. Defining one does no work. */
import { InputError } from "../errors.ts"
import { assertOptions } from "../options/check.ts"
import type { MisnamedOfJob, MisnamedOfRetry, Mistake } from "../options/mistake.ts"
import type { JobContext } from "./context.ts"
import type { InputFault, ResultFault, ResultOf } from "./json-types.ts"
import { type JobSettings, jobCheck, type ResolvedJob, type RetryOptions, resolveJob } from "./options.ts"
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

/** What `defineJob` takes: the settings, what the input has to satisfy, and the handler. */
export interface JobOptions<Input, Output, Schema extends StandardSchema | undefined>
  extends JobSettings,
    MisnamedOfJob {
  /** What happens after a failed attempt. */
  readonly retry?: RetryOptions & MisnamedOfRetry
  /** Describes the input: a Standard Schema (zod, valibot, arktype). */
  readonly input?: Schema
  /** Executes one attempt. */
  readonly run: (input: HandlerInput<Schema, Input>, ctx: JobContext) => Promise<Output> | Output
}

type HandlerInput<Schema, Input> = Schema extends StandardSchema ? OutputOf<Schema> : Input

/**
 * Puts the compiler's complaint at the option that is wrong. In conditions of this form a type that is still open passes:
 * functions that define jobs may be generic.
 */
type JobFault<Input, Output, Schema> = At<
  "input",
  InputFault<SchemaInput<Schema>, "the schema must accept what comes out of JSON, as z.coerce.date() does">
> &
  At<"run", InputFault<BareInput<Schema, Input>, "let the handler take what comes out of JSON">> &
  At<"run", ResultFault<Exclude<Awaited<Output>, Verdict>>>

type SchemaInput<Schema> = Schema extends StandardSchema ? InputOf<Schema> : unknown
type BareInput<Schema, Input> = Schema extends StandardSchema ? unknown : Input

type At<Option extends string, Fault> = [Fault, 0] extends [Mistake<string>, 0]
  ? { readonly [Key in Option]: Fault }
  : unknown

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
export function defineJob<
  Input = undefined,
  Output = unknown,
  Schema extends StandardSchema | undefined = undefined,
>(
  options: JobOptions<Input, Output, Schema> & JobFault<Input, Output, Schema>,
): Job<Schema extends StandardSchema ? InputOf<Schema> : Input, ResultOf<Exclude<Awaited<Output>, Verdict>>>
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
      // JSON has no undefined: an input that was left out comes back as null.
      const value = decodePayload(json) ?? undefined
      return schema ? checked(options.name, schema, value) : value
    },
    execute: (input: unknown, ctx: JobContext) => run(input as never, ctx),
  })
}

async function checked(job: string, schema: StandardSchema, value: unknown): Promise<unknown> {
  const result = await validate(schema, value)
  if (!("faults" in result)) return result.value
  // Where there is nothing, some schemas want null.
  const other = value === undefined ? await validate(schema, null) : result
  if (!("faults" in other)) return other.value
  throw new InputError(job, result.faults)
}

/** Whether a value was made by `defineJob`, in whatever copy of this package. */
export function isJob(value: unknown): value is AnyJob {
  return typeof value === "object" && value !== null && Object.hasOwn(value, JOB)
}
