import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { recordError, reviveError } from "./error-record.ts"

describe("recordError", () => {
  it("keeps code, message, stack and causes", () => {
    const cause = new Error("the disk said no")
    const record = recordError(Object.assign(new Error("cannot save", { cause }), { code: "E_SAVE" }))
    expect(record).toMatchObject({ code: "E_SAVE", message: "cannot save" })
    expect(record.stack).toContain("Caused by: Error: the disk said no")
  })

  it("survives whatever is thrown, and writes nothing that PostgreSQL would refuse", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const anything = fc.oneof(
      fc.anything(),
      fc.string({ unit: "binary" }),
      fc.constant(cycle),
      fc.constant(Symbol("s")),
    )
    fc.assert(
      fc.property(anything, (thrown) => {
        for (const value of [thrown, new Error(String(typeof thrown === "string" ? thrown : "x"))]) {
          const { message, stack } = recordError(value)
          expect(message + stack).not.toContain("\0")
          expect(message.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  it.each<[string, () => unknown]>([
    ["a message that throws", () => hostile("message")],
    ["a stack that throws", () => hostile("stack")],
    ["a code that throws", () => hostile("code")],
    ["a message without a prototype", () => Object.assign(new Error("x"), { message: Object.create(null) })],
    ["a revoked proxy", revokedProxy],
    ["a tag that throws", () => Object.defineProperty({ self: 1n }, Symbol.toStringTag, thrower)],
  ])("survives %s", (_, make) => {
    expect(recordError(make()).message).toBeTypeOf("string")
  })

  it("cuts what is too long and says so", () => {
    const { message } = recordError(new Error("x".repeat(100_000)))
    expect(message.length).toBeLessThan(9_000)
    expect(message).toMatch(/91808 more characters/)
  })

  it("follows a chain of causes that leads back to itself only so far", () => {
    const error = new Error("a")
    error.cause = error
    expect(recordError(error).stack).toBeTypeOf("string")
  })

  it("can be turned back into an error", () => {
    const thrown = Object.assign(new TypeError("no"), { code: "E_NO" })
    expect(reviveError(recordError(thrown))).toMatchObject({
      message: "no",
      code: "E_NO",
      stack: thrown.stack,
    })
  })
})

const thrower = {
  get: () => {
    throw new Error("do not look")
  },
}

function hostile(property: string): Error {
  return Object.defineProperty(new Error("x"), property, thrower)
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
