/** Hostile inputs and results: kept exactly, or refused with the place of the fault. Never a stuck run. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob, type PayloadError } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const MEBIBYTE = 1_048_576

function nested(levels: number): unknown {
  let value: unknown = "bottom"
  for (let level = 0; level < levels; level += 1) value = { in: value }
  return value
}

function cycle(): unknown {
  const value: Record<string, unknown> = { name: "cycle" }
  value["self"] = { again: value }
  return value
}

const throws = () => {
  throw new Error("do not look at me")
}

/** What JSON keeps, although many serialisers do not. */
const KEPT: readonly [string, string][] = [
  ["NUL in a text", '{"a\\u0000b":"\\u0000"}'],
  ["lone surrogates", '["\\ud800","\\udfff","x\\udbffy"]'],
  ["a key called __proto__", '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}'],
  ["400 levels", JSON.stringify(nested(400))],
  ["numbers at the edge", "[9007199254740991,-9007199254740991,5e-324,1.7976931348623157e+308,0.1]"],
  ["all of Unicode's odd ones", JSON.stringify("\u2028\u2029\ufeff\uffff🎉\u202e")],
  ["quotes, backslashes and braces", JSON.stringify(`'"\\{}$1@id{runs}%s;--\n\r\t`)],
  ["a text of a megabyte", JSON.stringify("x".repeat(MEBIBYTE - 2))],
  ["empty things", '[{},[],"",null,false,0]'],
  ["a hundred thousand entries", JSON.stringify(Array.from({ length: 100_000 }, (_, n) => n))],
]

/** What JSON cannot keep, with the place that the error names. */
const REFUSED: readonly [string, string, string, () => unknown][] = [
  ["NaN", "PAYLOAD_INVALID", "a.1", () => ({ a: [1, Number.NaN] })],
  ["Infinity", "PAYLOAD_INVALID", "a", () => ({ a: Number.POSITIVE_INFINITY })],
  ["a bigint", "PAYLOAD_INVALID", "deep.er", () => ({ deep: { er: 10n } })],
  ["a cycle", "PAYLOAD_INVALID", "self.again", cycle],
  ["10,000 levels", "PAYLOAD_INVALID", "in.in.in", () => nested(10_000)],
  ["undefined in a list", "PAYLOAD_INVALID", "1", () => [1, undefined]],
  ["a function", "PAYLOAD_INVALID", "f", () => ({ f: throws })],
  ["a symbol", "PAYLOAD_INVALID", "s", () => ({ s: Symbol("s") })],
  ["a Map", "PAYLOAD_INVALID", "m", () => ({ m: new Map([[1, 2]]) })],
  ["bytes", "PAYLOAD_INVALID", "b", () => ({ b: new Uint8Array(3) })],
  ["a date that is none", "PAYLOAD_INVALID", "d", () => ({ d: new Date(Number.NaN) })],
  ["a toJSON that throws", "PAYLOAD_INVALID", "t", () => ({ t: { toJSON: throws } })],
  [
    "a getter that throws",
    "PAYLOAD_INVALID",
    "g",
    () => ({ g: Object.defineProperty({}, "x", { get: throws, enumerable: true }) }),
  ],
  ["two megabytes", "PAYLOAD_TOO_LARGE", "", () => ({ big: "x".repeat(2 * MEBIBYTE) })],
  ["a megabyte in letters of three bytes", "PAYLOAD_TOO_LARGE", "", () => "€".repeat(MEBIBYTE / 2)],
]

const echo = defineJob({
  name: "echo",
  retry: { attempts: 3, delay: 0 },
  run: async (input: unknown) => input,
})
const makes = defineJob({
  name: "makes",
  retry: { attempts: 3, delay: 0 },
  run: async (which: string): Promise<unknown> => REFUSED.find(([name]) => name === which)?.[3]() ?? "fine",
})

describe.each(["memory", "postgres18"] as const)("on %s", (where) => {
  let kit: WatchedKit
  let app: WatchedApp
  beforeAll(async () => {
    kit = await createWatchedKit(where === "memory" ? where : SERVER_URLS[where])
    app = await kit.app({ jobs: [echo, makes], pools: { default: 100 } })
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  const live = async () => (await rowsOf(app.database, "select from {runs}")).length

  it.each(KEPT)("%s is kept exactly, as input and as result", async (_, json) => {
    const run = await app.enqueue(echo, JSON.parse(json))
    await app.drain()
    expect(JSON.stringify(await run.result()) === json).toBe(true)
    expect(Object.hasOwn({}, "polluted")).toBe(false)
    expect(await live()).toBe(0)
  })

  it.each(REFUSED)(
    "%s is refused as input (%s at %j), and nothing is written",
    async (_, code, path, make) => {
      const error = await app.enqueue(echo, make()).catch((thrown: PayloadError) => thrown)
      expect(error).toMatchObject({ name: "PayloadError", code })
      expect((error as PayloadError).path.startsWith(path)).toBe(true)
      expect((error as PayloadError).message).toContain("input")
      expect(await live()).toBe(0)
    },
  )

  it.each(REFUSED)(
    "%s is refused as result (%s): the run fails for good, once, and says where",
    async (name, code, path) => {
      const run = await app.enqueue(makes, name)
      await app.drain()
      const error = await run.result().catch((thrown: { cause: Error }) => thrown)
      expect(error).toMatchObject({ code: "RUN_DEAD", cause: { code } })
      expect((error as { cause: Error }).cause.message).toContain(path === "" ? "result" : `result.${path}`)
      expect(await app.runs.attempts(run.id)).toMatchObject([
        { attempt: 1, outcome: "failed", runState: "dead" },
      ])
      expect(await live()).toBe(0)
    },
  )

  it("bad results harm no other run: everything that ended with them is settled as what it is", async () => {
    const names = REFUSED.map(([name]) => name)
    const inputs = Array.from({ length: 60 }, (_, index) =>
      index % 4 === 3 ? (names[index % names.length] ?? "") : "fine",
    )
    const runs = await app.enqueueMany(
      makes,
      inputs.map((input) => ({ input })),
    )
    await app.drain()
    const ends = await Promise.allSettled(runs.map((run) => run.result()))
    expect(ends.map(({ status }) => status === "fulfilled")).toEqual(inputs.map((input) => input === "fine"))
    expect(await live()).toBe(0)
  })
})

describe("an input", () => {
  it("is what it was at the call, whatever happens to the object afterwards", async () => {
    const kit = await createWatchedKit()
    const seen: unknown[] = []
    const job = defineJob({
      name: "greedy",
      retry: { attempts: 2, delay: 0 },
      run: async (input: { list: number[] }, { attempt }) => {
        seen.push([...input.list])
        input.list.push(99)
        if (attempt === 1) throw new Error("again")
      },
    })
    const app = await kit.app({ jobs: [job] })
    const input = { list: [1] }
    const enqueued = app.enqueue(job, input)
    input.list.push(2)
    await enqueued
    await app.drain()
    // What one attempt does to it does not reach the next one either.
    expect(seen).toEqual([[1], [1]])
    await app.close()
    await kit.close()
  })
})
