import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fingerprintOf } from "./fingerprint.ts"

const of = (message: string, code: string | null = null) => fingerprintOf({ code, message, stack: null })

describe("fingerprintOf", () => {
  it.each([
    ["numbers", "timeout after 30000 ms", "timeout after 7 ms"],
    ["numbers with letters", "block 0xdeadbeef1 is bad", "block 0x77 is bad"],
    ["ids", "no order 01890000-0000-7000-8000-00000000000a", "no order ffffffff-ffff-4fff-bfff-ffffffffffff"],
    ["what is quoted", "key 'ada' is taken", "key 'bob the builder' is taken"],
    ["what is quoted twice", 'no file "/a/b"', 'no file "/c"'],
  ])("leaves out what differs from run to run: %s", (_, one, other) => {
    expect(of(one)).toBe(of(other))
  })

  it("tells errors apart that differ in their words or in their code", () => {
    expect(of("connection refused")).not.toBe(of("connection reset"))
    expect(of("no", "E_DISK")).not.toBe(of("no", "E_NET"))
    expect(of("no", "E_DISK")).not.toBe(of("no"))
  })

  it("keeps words that only look like numbers in base sixteen", () => {
    expect(of("a bad face")).toContain("a bad face")
  })

  it("is short and the same each time, whatever the message", () => {
    const messages = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."a0f-'\"x ") }),
    )
    fc.assert(
      fc.property(messages, fc.option(fc.string()), (message, code) => {
        const print = of(message, code)
        expect(print.length).toBeLessThanOrEqual(200)
        expect(of(message, code)).toBe(print)
        expect(of(`${message}${"z".repeat(5_000)}`, code).length).toBeLessThanOrEqual(200)
      }),
    )
  })
})
