import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PayloadError } from "../errors.ts"
import type { Jsonified } from "./json-types.ts"
import { decodePayload, encodePayload } from "./payload.ts"

const encode = (value: unknown) => encodePayload(value, "input", 1_000_000)

/** Compiles only where the types say what JSON makes of a value, and passes only where it does so. */
function becomes<T>(value: T, json: NoInfer<Jsonified<T>>): void {
  expect(decodePayload(encode(value))).toEqual(json)
}

class Money {
  readonly cents: number = 5
  isFree(): boolean {
    return this.cents === 0
  }
}

describe("Jsonified", () => {
  const at = new Date(0)
  it("says of each type what JSON makes of its values", () => {
    becomes(at, "1970-01-01T00:00:00.000Z")
    becomes(
      { at, list: [at], pair: [1, at] as const },
      { at: at.toJSON(), list: [at.toJSON()], pair: [1, at.toJSON()] },
    )
    becomes({ to: new URL("https://example.com/") }, { to: "https://example.com/" })
    becomes(new Money(), { cents: 5 })
    becomes<{ a?: number; b: number | undefined }>({ b: undefined }, { b: undefined })
    becomes<{ a: undefined; b: 1 }>({ a: undefined, b: 1 }, { b: 1 })
    becomes<Record<string, Date | null>>({ a: at, b: null }, { a: at.toJSON(), b: null })
    becomes({ toJSON: () => ({ at }) }, { at: at.toJSON() })
  })

  it("has no value where JSON would lose what is meant", () => {
    // @ts-expect-error a Map
    expect(() => becomes({ m: new Map([[1, 2]]) }, { m: {} })).toThrow(PayloadError)
    // @ts-expect-error a Set
    expect(() => becomes(new Set([1]), {})).toThrow(PayloadError)
    // @ts-expect-error a bigint
    expect(() => becomes({ n: 1n }, { n: 1 })).toThrow(PayloadError)
    // @ts-expect-error bytes
    expect(() => becomes({ bytes: new Uint8Array(2) }, { bytes: {} })).toThrow(PayloadError)
    // @ts-expect-error a promise
    expect(() => becomes({ later: Promise.resolve(1) }, { later: {} })).toThrow(PayloadError)
    // @ts-expect-error undefined inside an array
    expect(() => becomes([1, undefined], [1, undefined])).toThrow(PayloadError)
    // @ts-expect-error a symbol
    expect(() => becomes({ s: Symbol("s") }, { s: "s" })).toThrow(PayloadError)
  })
})

describe("encodePayload", () => {
  it("keeps every JSON value faithfully", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(decodePayload(encode(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it("keeps NUL, lone surrogates and keys called __proto__ as data", () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"a":"\\u0000\\ud800"}')
    const back = decodePayload(encode(value)) as object
    expect(back).toEqual(value)
    expect(Object.keys(back)).toEqual(["__proto__", "a"])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it.each<[string, unknown, string]>([
    ["a bigint", { user: { id: 1n } }, "user.id"],
    ["NaN", { rates: [1, Number.NaN] }, "rates.1"],
    ["Infinity", Number.POSITIVE_INFINITY, ""],
    ["a function", { run: () => {} }, "run"],
    ["undefined in an array", [1, undefined], "1"],
    ["a symbol", { s: Symbol("s") }, "s"],
    ["a Map", { m: new Map([[1, 2]]) }, "m"],
    ["a Set", new Set([1]), ""],
    ["an Error", { error: new Error("x") }, "error"],
    ["bytes", { bytes: new Uint8Array(2) }, "bytes"],
    ["a boxed number", { n: Object(Number.NaN) }, "n"],
    ["a hole in an array", { list: Object.assign([], { 0: 1, 2: 3 }) }, "list.1"],
    ["a Date without a time", { at: new Date(Number.NaN) }, "at"],
  ])("refuses %s and says where it stands", (_, value, path) => {
    expect(() => encode(value)).toThrowError(PayloadError)
    expect(catchError(() => encode(value))).toMatchObject({ code: "PAYLOAD_INVALID", path })
  })

  it("refuses cycles and bottomless nesting without overflowing", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    let deep: unknown = 0
    for (let level = 0; level < 10_000; level += 1) deep = [deep]
    expect(catchError(() => encode(cycle))).toMatchObject({ code: "PAYLOAD_INVALID" })
    expect(catchError(() => encode(deep))).toMatchObject({ code: "PAYLOAD_INVALID" })
  })

  it("keeps dates as texts and the fields of class instances", () => {
    class Point {
      readonly x = 1
    }
    expect(encode({ at: new Date(0), point: new Point() })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","point":{"x":1}}',
    )
  })

  it("takes the same object twice, side by side", () => {
    const shared = { a: 1 }
    expect(encode([shared, shared])).toBe('[{"a":1},{"a":1}]')
  })

  it("counts bytes, not characters", () => {
    expect(encodePayload("é", "input", 4)).toBe('"é"')
    expect(catchError(() => encodePayload("éé", "input", 5))).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })
})

function catchError(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
