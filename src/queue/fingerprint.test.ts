import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { recordError } from "./error-record.ts"
import { fingerprintOf, shapeOf } from "./fingerprint.ts"

const of = (message: string, code: string | null = null, job = "sync") =>
  fingerprintOf(job, { code, message, stack: null })

const userFrame = (called: string, file: string, line: number) => `    at ${called} (${file}:${line}:7)`
const withStack = (message: string, frames: readonly string[]) =>
  fingerprintOf("sync", {
    code: null,
    name: "Error",
    message,
    stack: [`Error: ${message}`, ...frames].join("\n"),
  })

describe("fingerprintOf", () => {
  it.each([
    ["numbers", "timeout after 30000 ms", "timeout after 7 ms"],
    ["fractions and signs", "took -3.5 s", "took 4 s"],
    ["numbers with letters", "block 0xdeadbeef1 is bad", "block 0x77 is bad"],
    ["long numbers in base 16", "no object deadbeefcafe", "no object 0011223344"],
    ["ids", "no order 01890000-0000-7000-8000-00000000000a", "no order ffffffff-ffff-4fff-bfff-ffffffffffff"],
    ["ids with a prefix", "no customer cus_NffrFeUfNV2Hib", "no customer cus_4QFJOjw2pOmAGJ"],
    ["what is quoted", "key 'ada' is taken", "key 'bob the builder' is taken"],
    ["what is quoted twice", 'no file "/a/b"', 'no file "/c"'],
    ["addresses of hosts", "connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNREFUSED 192.168.7.20:6432"],
    ["addresses of hosts in version 6", "refused by fe80::1:2", "refused by 2001:db8::ff00:42:8329"],
    ["addresses of people", "no mailbox ada@example.com", "no mailbox bob.b@mail.example.org"],
    ["addresses of pages", "cannot GET https://a.example/x?y=1", "cannot GET http://b.example:80/long/path"],
    ["times", "late since 2026-03-01T09:00:00Z", "late since 2025-12-24T23:59:59.5Z"],
  ])("leaves out what differs from run to run: %s", (_, one, other) => {
    expect(of(one)).toBe(of(other))
  })

  const ids = fc.oneof(
    fc.uuid(),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((n) => n.toFixed(3)),
    fc.ipV4(),
    fc.nat(0xffff).map((n) => `fe80::${n.toString(16)}:1`),
    fc.emailAddress().filter((mail) => /^[a-z0-9.]+@[a-z0-9.-]+$/i.test(mail)),
    fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 24, maxLength: 24 }),
  )
  const words = fc.array(
    fc.constantFrom("order", "is", "refused", "by", "the", "bank", "no", "such", "row"),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  const sentences = fc.array(words, { minLength: 2, maxLength: 4 })

  it("is equal for equal errors with other ids, numbers and addresses", () => {
    fc.assert(
      fc.property(sentences, fc.infiniteStream(ids), fc.infiniteStream(ids), (parts, some, others) => {
        const told = (values: Iterator<string>) =>
          parts.map((part) => part.join(" ")).reduce((text, part) => `${text} ${values.next().value} ${part}`)
        expect(of(told(some))).toBe(of(told(others)))
      }),
    )
  })

  it("differs for errors of other classes, other words, other jobs and other places", () => {
    const codes = fc.constantFrom(null, "E_DISK", "E_NET", "ECONNREFUSED", "ECONNRESET", "P2002")
    const errors = fc.record({
      job: fc.constantFrom("sync", "mail"),
      code: codes,
      name: fc.constantFrom("Error", "TypeError", "PaymentError"),
      words,
      called: fc.constantFrom("send", "Mailer.send"),
    })
    const print = ({
      job,
      code,
      name,
      words: said,
      called,
    }: typeof errors extends fc.Arbitrary<infer T> ? T : never) =>
      fingerprintOf(job, {
        ...{ code, name, message: said.join(" ") },
        stack: `${name}: ${said.join(" ")}\n${userFrame(called, "/app/src/mail.ts", 3)}`,
      })
    const facts = ({ name, ...rest }: typeof errors extends fc.Arbitrary<infer T> ? T : never) =>
      JSON.stringify({ ...rest, name: rest.code ?? name })
    fc.assert(
      fc.property(errors, errors, (one, other) => {
        expect(print(one) === print(other)).toBe(facts(one) === facts(other))
      }),
    )
  })

  it("goes by the code of an error, or by its class", () => {
    class PaymentError extends Error {
      override name = "PaymentError"
    }
    const record = (error: Error) => ({ ...recordError(error), stack: null })
    expect(fingerprintOf("j", record(new PaymentError("no")))).not.toBe(
      fingerprintOf("j", record(new Error("no"))),
    )
    const coded = (error: Error) => record(Object.assign(error, { code: "E_PAY" }))
    expect(fingerprintOf("j", coded(new PaymentError("no")))).toBe(fingerprintOf("j", coded(new Error("no"))))
  })

  it("goes by the topmost frame of the user's code, and by no line of it", () => {
    const own = [
      "    at new Socket (node:net:1:2)",
      "    at connect (/app/node_modules/pg/lib/client.js:3:4)",
      "    at async Promise.all (index 0)",
    ]
    const here = withStack("no", [...own, userFrame("Mailer.send", "/app/src/mail.ts", 10)])
    expect(
      withStack("no", [
        userFrame("Mailer.send", "file:///srv/release-7/src/mail.ts", 99),
        "    at x (y:1:1)",
      ]),
    ).toBe(here)
    expect(withStack("no", [...own, userFrame("Mailer.receive", "/app/src/mail.ts", 10)])).not.toBe(here)
    expect(withStack("no", own)).not.toBe(here)
  })

  it("does not take a message for a frame", () => {
    const frames = [userFrame("send", "/app/mail.ts", 1)]
    expect(withStack("no\n    at order (17)", frames)).toBe(withStack("no\n    at order (4)", frames))
  })

  it("is 16 digits and the same each time, whatever the message and the stack", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."a0f-'\"x:@./ (\n") }),
    )
    fc.assert(
      fc.property(texts, fc.option(texts), fc.option(texts), (message, code, stack) => {
        const print = fingerprintOf("sync", { code, message, stack })
        expect(print).toMatch(/^[0-9a-f]{16}$/)
        expect(fingerprintOf("sync", { code, message, stack })).toBe(print)
      }),
    )
  })
})

describe("shapeOf", () => {
  it("keeps words that only look like numbers in base 16", () => {
    expect(shapeOf({ code: null, message: "a bad face", stack: null })).toContain("a bad face")
  })

  it("is short, whatever the message", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (message) => {
        expect(shapeOf({ code: "E", message, stack: null }).length).toBeLessThanOrEqual(200)
      }),
    )
  })
})
