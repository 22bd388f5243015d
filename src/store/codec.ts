/**
 * How values travel: every parameter and column is text, written and read here.
 *
 * One table for all engines. A bigint stays a bigint and an instant an instant, on a server, on the embedded server
 * and in memory, whatever the driver would have made of it.
 */
import { formatInstant, type InstantMs, parseInstant } from "../time/instant.ts"

export interface Codec<T> {
  /** The SQL type that a parameter is cast to. */
  readonly sqlType: string
  /** `String` writes its values, and none of them needs quotes in an array. */
  readonly plain?: boolean
  readonly encode: (value: T) => string | null
  readonly decode: (text: string | null) => T
}

function codec<T>(sqlType: string, encode: (value: T) => string, decode: (text: string) => T): Codec<T> {
  return {
    sqlType,
    encode,
    decode: (text) => {
      if (text === null) throw new TypeError(`null where a ${sqlType} was declared; use nullable()`)
      return decode(text)
    },
  }
}

function plain<T>(inner: Codec<T>): Codec<T> {
  return { ...inner, plain: true }
}

const asIs = (text: string): string => text

export const text: Codec<string> = codec("text", asIs, asIs)
export const uuid: Codec<string> = plain(codec("uuid", asIs, asIs))
export const int: Codec<number> = plain(codec("int4", String, Number))
/** Whole numbers beyond an int4 that a JavaScript number still holds: milliseconds, bytes. */
export const whole: Codec<number> = plain(codec("int8", String, Number))
/**
 * For milliseconds as parameters. No statement returns one, because the session decides how many digits are written.
 */
export const double: Codec<number> = plain(codec("float8", String, Number))
/** The same or null, which is written as NaN, so a list holds no nulls. Read it with `nullif(value, 'NaN')`. */
export const doubleOrNan: Codec<number | null> = {
  ...double,
  plain: false,
  encode: (value) => (value === null ? "NaN" : double.encode(value)),
}
export const bigint: Codec<bigint> = plain(codec("int8", String, BigInt))
export const boolean: Codec<boolean> = plain(
  codec("bool", String, (value) => value === "t" || value === "true"),
)
/** JSON as text. The caller parses it when it needs the value. */
export const json: Codec<string> = codec("json", asIs, asIs)
/** An instant to the millisecond. PostgreSQL stores microseconds; ours are always whole milliseconds. */
export const instant: Codec<InstantMs> = codec("timestamptz", formatInstant, readInstant)

function readInstant(value: string): InstantMs {
  const ms = parseInstant(value)
  if (ms === undefined) throw new TypeError(`not an instant: ${value}`)
  return ms
}

/** The same, or null. */
export function nullable<T>(inner: Codec<T>): Codec<T | null> {
  return {
    sqlType: inner.sqlType,
    encode: (value) => (value === null ? null : inner.encode(value)),
    decode: (value) => (value === null ? null : inner.decode(value)),
  }
}

/** An array of one type. Written as PostgreSQL's array literal, and never read back. */
export function list<T>(inner: Codec<T>): Codec<readonly T[]> {
  const inside = inner.plain
    ? (values: readonly T[]) => values.join(",")
    : (values: readonly T[]) => values.map((value) => quoteElement(inner.encode(value))).join(",")
  return codec<readonly T[]>(
    `${inner.sqlType}[]`,
    (values) => `{${inside(values)}}`,
    () => {
      throw new TypeError(`no statement returns ${inner.sqlType}[]`)
    },
  )
}

/** One column of a list of objects: an array with one value of each. */
interface Column<T> {
  readonly name: string
  readonly field: string
  readonly sqlType: string
  readonly encode: (objects: readonly T[]) => string | null
}

/**
 * A list of objects as a parameter. The statement says `unnest(@fires) as fire (@fires.columns)`, or `@fires.run` for
 * the array of one field. The order of the arrays and of their names comes from here, so the two always match.
 */
export interface Rows<T> {
  readonly columns: readonly Column<T>[]
}

export function rows<T extends object>(fields: { readonly [K in keyof T]: Codec<T[K]> }): Rows<T> {
  const names = Object.keys(fields) as (keyof T & string)[]
  return {
    columns: names.map((field) => {
      const array = list<T[keyof T & string]>(fields[field])
      return {
        name: snakeCase(field),
        field,
        sqlType: array.sqlType,
        encode: (objects) => array.encode(objects.map((each) => each[field])),
      }
    }),
  }
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
}

/**
 * JSON texts as one JSON array, for `json_array_elements`, which returns each as it was. An array literal would quote
 * each text a second time. The server does the same work for both.
 */
export const jsonList = codec<readonly string[]>(
  "json",
  (texts) => `[${texts.join(",")}]`,
  () => {
    throw new TypeError("no statement returns a list of JSON texts")
  },
)

/** Characters that JSON escapes in its own way: those below the space, and unpaired surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const NOT_AS_IN_JSON = /[\u0000-\u001f\ud800-\udfff]/

/** An array literal escapes quotes and backslashes as JSON does, and `JSON.stringify` is three times as fast. */
function quoteElement(value: string | null): string {
  if (value === null) return "NULL"
  if (!NOT_AS_IN_JSON.test(value)) return JSON.stringify(value)
  return `"${value.replace(/["\\]/g, "\\$&")}"`
}
