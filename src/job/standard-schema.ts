/**
 * The part of the Standard Schema interface (https://standardschema.dev, version 1) that Carillon uses. Any library
 * that implements it can describe the input of a job.
 */
import type { Fault } from "../errors.ts"
import { isPlainObject } from "../options/check.ts"

/** A schema of any library that implements Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The Standard Schema interface. */
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Standard JSON Schema, where the library implements it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown } | undefined
  }
}

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The input type of a schema. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"]
/** The output type of a schema. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"]

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false
  const standard = (value as { "~standard"?: { version?: unknown; validate?: unknown } })["~standard"]
  return standard?.version === 1 && typeof standard.validate === "function"
}

/** The JSON Schema of the inputs that a schema accepts. Undefined if its library cannot express it. */
export function jsonSchemaOf(schema: StandardSchema): Readonly<Record<string, unknown>> | undefined {
  try {
    const described = schema["~standard"].jsonSchema?.input({ target: JSON_SCHEMA_DRAFT })
    // A copy by way of JSON, because it will be stored.
    const json: unknown = described === undefined ? undefined : JSON.parse(JSON.stringify(described))
    return isPlainObject(json) ? json : undefined
  } catch {
    // Libraries throw for types that JSON Schema does not have, as for a Date.
    return undefined
  }
}

const JSON_SCHEMA_DRAFT = "draft-2020-12"

/** The output of the schema, or its faults. */
export async function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly faults: Fault[] }> {
  const result = await schema["~standard"].validate(value)
  if (result.issues === undefined) return { value: result.value }
  return { faults: result.issues.map(({ path, message }) => ({ path: pathOf(path), message })) }
}

function pathOf(path: Issue["path"] = []): string {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step))
  return steps.length === 0 ? "(input)" : steps.join(".")
}
