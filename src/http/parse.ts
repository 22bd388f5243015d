/** Checks what came in by a zod schema, and reports faults as the library does: all at once, with "did you mean". */
import { z } from "@hono/zod-openapi"
import type { Fault } from "../errors.ts"
import { expected } from "../options/check.ts"
import { meantOption } from "../options/nearest.ts"

/** The value as the schema reads it, or all that is wrong with it. */
export type Parsed<T> = { readonly value: T; readonly faults?: never } | { readonly faults: readonly Fault[] }

/** A body may have millions of faults, and no one reads so many. */
const MOST_FAULTS = 100

export function parse<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value)
  if (result.success) return { value: result.data }
  const issues = result.error.issues.slice(0, MOST_FAULTS)
  return { faults: issues.flatMap((issue) => faultsOf(issue, schema, value)).slice(0, MOST_FAULTS) }
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

function faultsOf(issue: Issue, schema: z.ZodType, value: unknown): Fault[] {
  const { path } = issue
  if (issue.code === "unrecognized_keys") {
    const known = keysOf(schema, path)
    const keys = issue.keys.slice(0, MOST_FAULTS)
    return keys.map((key) => ({ path: textOf([...path, key]), message: unknownMessage(key, known) }))
  }
  if (issue.code === "invalid_union") {
    const deepest = issue.errors.toSorted((a, b) => a.length - b.length)[0] ?? []
    const inner = deepest.flatMap((one) => faultsOf({ ...one, path: [...path, ...one.path] }, schema, value))
    return inner.length > 0 ? inner : [expected("another value", at(value, path), textOf(path))]
  }
  if (issue.code === "invalid_type") {
    return [expected(TYPES[issue.expected] ?? issue.expected, at(value, path), textOf(path))]
  }
  if (issue.code === "invalid_value") {
    const words = issue.values.map((word) => JSON.stringify(word)).join(" or ")
    return [expected(words, at(value, path), textOf(path))]
  }
  return [{ path: textOf(path) || "(options)", message: issue.message }]
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
}

/** No name of a field is longer, so a hint would be useless. */
const LONGEST_KEY = 200
const MOST_NAMED = 30

function unknownMessage(key: string, known: readonly string[]): string {
  const meant = key.length > LONGEST_KEY ? undefined : meantOption(key, known)
  if (meant) return `unknown; did you mean "${meant}"?`
  if (known.length === 0 || known.length > MOST_NAMED) return "unknown"
  return `unknown; use one of ${known.map((word) => `"${word}"`).join(", ")}`
}

/** The keys that the schema knows at a place. */
function keysOf(schema: z.ZodType, path: Path): string[] {
  const place = path.reduce<z.ZodType | undefined>((outer, step) => inside(outer, step), bare(schema))
  return place instanceof z.ZodObject ? Object.keys(place.shape) : []
}

function inside(outer: z.ZodType | undefined, step: PropertyKey): z.ZodType | undefined {
  if (outer instanceof z.ZodObject) return bare(outer.shape[String(step)] as z.ZodType | undefined)
  return outer instanceof z.ZodArray ? bare(outer.element as z.ZodType) : undefined
}

function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional) return bare(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodPipe) return bare(schema.in as z.ZodType)
  return schema
}

/** The value at a place, without running into prototypes. */
function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((outer, step) => {
    if (typeof outer !== "object" || outer === null || !Object.hasOwn(outer, step)) return undefined
    return (outer as Readonly<Record<PropertyKey, unknown>>)[step]
  }, value)
}

/** As the library writes places: `items[2].name`. */
function textOf(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`
    const name = String(step)
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${text}[${JSON.stringify(name)}]`
    return text === "" ? name : `${text}.${name}`
  }, "")
}
