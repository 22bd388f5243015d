/** Defines a job: a name, settings and a handler. Defining a job has no side effects. */
import { InputError } from "../errors.ts"
import { assertOptions } from "../options/check.ts"
import type { MisnamedOfJob, MisnamedOfRetry, Mistake } from "../options/mistake.ts"
import type { JobContext } from "./context.ts"
import type { InputFault, ResultFault, ResultOf } from "./json-types.ts"
import { type JobSettings, jobCheck, type ResolvedJob, type RetryOptions, resolveJob } from "./options.ts"
import { decodePayload } from "./payload.ts"
import {
  type InputOf,
  jsonSchemaOf,
  type OutputOf,
  type StandardSchema,
  validate,
} from "./standard-schema.ts"
import type { Verdict } from "./verdict.ts"

/** Marks objects made by `defineJob`. `Symbol.for`, so that two copies of this package accept each other's jobs. */
const JOB = Symbol.for("carillon.job")

/** A defined job. `Input` is the type that `enqueue` accepts, `Output` the type of the result. */
export interface Job<Input = unknown, Output = unknown> extends ResolvedJob {
  /**
   * Parses and checks an input from its JSON text. Throws an `InputError` with every fault. Returns a promise if the
   * job has a schema.
   */
  readonly parse: (json: string) => unknown
  /** Whether the job has an input schema. */
  readonly hasSchema: boolean
  /** Executes one attempt with a parsed input. */
  readonly execute: (input: unknown, ctx: JobContext) => Output | Promise<Output>
  /** What the code says about the job beside its settings, for operators. */
  readonly describe: () => JobDescription
  /** Exists for the compiler only: the type that `enqueue` accepts. */
  readonly accepts?: (input: Input) => void
}

/** What the code says about a job beside its settings. */
export interface JobDescription {
  /** The options that the code sets. The other settings are defaults. */
  readonly given: readonly string[]
  /** The JSON Schema of the input, where the schema library can express it. */
  readonly inputSchema?: Readonly<Record<string, unknown>>
}

/** A job with any input and output. */
export type AnyJob = Job<never, unknown>

/** The options of `defineJob`: settings, input schema and handler. */
export interface JobOptions<Input, Output, Schema extends StandardSchema | undefined>
  extends JobSettings,
    MisnamedOfJob {
  /** What happens after a failed attempt. */
  readonly retry?: RetryOptions & MisnamedOfRetry
  /** The input schema: any Standard Schema (zod, valibot, arktype). */
  readonly input?: Schema
  /** The handler. It executes one attempt. */
  readonly run: (input: HandlerInput<Schema, Input>, ctx: JobContext) => Promise<Output> | Output
}

type HandlerInput<Schema, Input> = Schema extends StandardSchema ? OutputOf<Schema> : Input

/**
 * Attaches the compile error to the wrong option. The tuple form lets unresolved type parameters pass, so generic
 * functions may define jobs.
 */
type JobFault<Input, Output, Schema> = At<
  "input",
  InputFault<SchemaInput<Schema>, "the schema must accept the value after JSON, as z.coerce.date() does">
> &
  At<"run", InputFault<BareInput<Schema, Input>, "the handler must accept the value after JSON">> &
  At<"run", ResultFault<Exclude<Awaited<Output>, Verdict>>>

type SchemaInput<Schema> = Schema extends StandardSchema ? InputOf<Schema> : unknown
type BareInput<Schema, Input> = Schema extends StandardSchema ? unknown : Input

type At<Option extends string, Fault> = [Fault, 0] extends [Mistake<string>, 0]
  ? { readonly [Key in Option]: Fault }
  : unknown

/**
 * Defines a job.
 *
 * With a schema as `input`, Carillon checks every input at enqueue and again before the handler starts. The handler
 * gets the output of the schema.
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
      // JSON has no undefined: a missing input comes back as null.
      const value = decodePayload(json) ?? undefined
      return schema ? checked(options.name, schema, value) : value
    },
    execute: (input: unknown, ctx: JobContext) => run(input as never, ctx),
    describe: () => {
      const inputSchema = schema && jsonSchemaOf(schema)
      const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))
      return { given: given.sort(), ...(inputSchema && { inputSchema }) }
    },
  })
}

async function checked(job: string, schema: StandardSchema, value: unknown): Promise<unknown> {
  const result = await validate(schema, value)
  if (!("faults" in result)) return result.value
  // Some schemas expect null for a missing input.
  const other = value === undefined ? await validate(schema, null) : result
  if (!("faults" in other)) return other.value
  throw new InputError(job, result.faults)
}

/** Whether `defineJob` made a value, in any copy of this package. */
export function isJob(value: unknown): value is AnyJob {
  return typeof value === "object" && value !== null && Object.hasOwn(value, JOB)
}
