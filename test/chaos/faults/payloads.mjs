// Values at and beyond what can be kept, as inputs, results, errors, logs and words about a run.
import { deepEqual } from "node:assert/strict"
import { recordHandler } from "../../support/history/record-events.mjs"

const { defineJob } = await import("../../../dist/index.js")
const retry = { attempts: 2, delay: 20 }
const MIB = 1_048_576
const explode = () => {
  throw new Error("this cannot be looked at")
}
const nested = (levels) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
const cyclic = () => {
  const value = { list: [] }
  value.list.push(value)
  return value
}

/** What is made, and what must become of it: it is kept as it was, or refused with this code. */
const VALUES = {
  small: ["kept", () => ({ text: "x".repeat(1_024) })],
  "just small enough": ["kept", () => "x".repeat(MIB - 2)],
  "a byte too large": ["PAYLOAD_TOO_LARGE", () => "x".repeat(MIB - 1)],
  "just small enough in bytes": ["kept", () => "é".repeat(MIB / 2 - 1)],
  "too large in bytes": ["PAYLOAD_TOO_LARGE", () => "é".repeat(MIB / 2)],
  "sixteen megabytes": ["PAYLOAD_TOO_LARGE", () => ({ text: "x".repeat(16 * MIB) })],
  "a hundred thousand keys": [
    "kept",
    () => Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n])),
  ],
  nul: ["kept", () => ({ text: "a\0b", "a\0key": 1 })],
  "half of a pair": ["kept", () => ({ text: "\ud800", other: ["\udfff", "😀"] })],
  "a key of a prototype": ["kept", () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')],
  "just shallow enough": ["kept", () => nested(500)],
  "too deep": ["PAYLOAD_INVALID", () => nested(501)],
  "much too deep": ["PAYLOAD_INVALID", () => nested(5_000)],
  nan: ["PAYLOAD_INVALID", () => ({ value: Number.NaN })],
  infinity: ["PAYLOAD_INVALID", () => [Number.POSITIVE_INFINITY]],
  bigint: ["PAYLOAD_INVALID", () => ({ value: 1n })],
  cycle: ["PAYLOAD_INVALID", cyclic],
  function: ["PAYLOAD_INVALID", () => ({ value: explode })],
  symbol: ["PAYLOAD_INVALID", () => [Symbol("x")]],
  hole: ["PAYLOAD_INVALID", () => [1, undefined]],
  map: ["PAYLOAD_INVALID", () => ({ value: new Map([[1, 2]]) })],
  getter: ["PAYLOAD_INVALID", () => Object.defineProperty({}, "x", { get: explode, enumerable: true })],
  "no date": ["PAYLOAD_INVALID", () => ({ at: new Date(Number.NaN) })],
  "smallest number": ["kept", () => [5e-324, 1.7976931348623157e308, -0.1, 9_007_199_254_740_991]],
}

/** What can be said about a run beside its input; each is refused, or kept. */
const SETTINGS = {
  "key with nul": { key: "a\0b" },
  "half a pair as key": { key: "\ud800" },
  "long key": { key: "k".repeat(100_000) },
  "empty key": { key: "" },
  "tenant with nul": { tenant: "\0" },
  "half a pair as tenant": { tenant: "x\udfff" },
  "tags with nul": { tags: ["fine", "a\0"] },
  "half a pair as tag": { tags: ["\ud800"] },
  "many tags": { tags: Array.from({ length: 10_000 }, (_, n) => `t${n}`) },
  "no priority": { priority: Number.NaN },
  "far priority": { priority: 2 ** 53 },
  "endless delay": { delay: Number.POSITIVE_INFINITY },
  "delay of nothing": { delay: Number.NaN },
  "no time": { runAt: new Date(Number.NaN) },
  "end of time": { runAt: new Date(8.64e15) },
  "pool with nul": { pool: "a\0" },
}

const ERRORS = {
  "three megabytes": () => new Error("x".repeat(3 * MIB)),
  nul: () => new Error("a\0b \ud800 c"),
  "long code": () => Object.assign(new Error("x"), { code: "C".repeat(100_000) }),
  "long stack": () => Object.assign(new Error("x"), { stack: "at x\n".repeat(1_000_000) }),
  "many causes": () => {
    let error = new Error("the first")
    for (let n = 0; n < 5_000; n += 1) error = new Error(`number ${n}`, { cause: error })
    return error
  },
  text: () => "a thrown text \0".repeat(500_000),
  cycle: cyclic,
}

const LOGS = {
  "long lines": (log) => {
    for (let n = 0; n < 5; n += 1) log("x".repeat(MIB))
  },
  "many lines": (log) => {
    for (let n = 0; n < 50_000; n += 1) log(`line ${n}`, { n })
  },
  "large data": (log) => {
    for (let n = 0; n < 40; n += 1) log("x", { text: "y".repeat(16_000) })
  },
  odd: (log) => {
    log("nul \0, half \ud800", { text: "\0 \udfff" })
    for (const data of [1n, cyclic(), Symbol("x"), explode, new Map(), Number.NaN]) log("odd", data)
    log(undefined)
    log(Object.defineProperty(new Error("x"), "message", { get: explode }))
  },
}

export const createJobs = ({ record }) => ({
  /** Gives back what it is given. */
  echo: defineJob({ name: "echo", retry, run: recordHandler(record, async (input) => input) }),
  maker: defineJob({
    name: "maker",
    retry,
    run: recordHandler(record, async ({ kind }, ctx) => {
      const [, make] = VALUES[kind]
      try {
        ctx.progress(make())
      } catch (error) {
        // It is refused for the same reason as the result.
        if (!error.code?.startsWith("PAYLOAD_")) throw error
      }
      return make()
    }),
  }),
  thrower: defineJob({
    name: "thrower",
    retry,
    run: recordHandler(record, async ({ kind }) => {
      throw ERRORS[kind]()
    }),
  }),
  chatty: defineJob({
    name: "chatty",
    retry,
    run: recordHandler(record, async ({ kind }, ctx) => LOGS[kind](ctx.log)),
  }),
})

export function createCommands({ record, carillon, jobs, asking, by }) {
  /** The handle, or the code of the refusal. */
  async function enqueue(job, input, settings = {}) {
    const { runs, handles, error } = await asking.within({ job, attempts: 2 }, () =>
      carillon.enqueue(jobs[job], input, settings),
    )
    for (const run of runs) {
      if (error) record("enq_fail", { run, code: error.code ?? "none" })
      else record("enq_ok", { run, created: handles[0].created })
    }
    return error ? { code: error.code ?? `none: ${error.message}` } : { handle: handles[0] }
  }

  /** How a run ends that gives back such a value: "kept", or the code of what it failed with. */
  async function endOf(handle, value) {
    try {
      const result = await handle.result()
      deepEqual(result, JSON.parse(JSON.stringify(value)))
      if (Object.prototype.polluted !== undefined) return "polluted"
      return "kept"
    } catch (error) {
      return error.code === "ERR_ASSERTION" ? "changed" : (error.cause?.code ?? error.code ?? error.message)
    }
  }

  const isWrong = ({ wanted, found }) => found !== wanted
  return {
    /** Each answers with what was not as it should be, and how many there were. */
    offerInputs: async () => {
      const answers = await Promise.all(
        Object.entries(VALUES).map(async ([kind, [wanted, make]]) => {
          const { handle, code } = await enqueue("echo", make())
          return { kind, wanted, found: handle ? await endOf(handle, make()) : code }
        }),
      )
      return { many: answers.length, wrong: answers.filter(isWrong) }
    },
    offerResults: async () => {
      const answers = await Promise.all(
        Object.entries(VALUES).map(async ([kind, [wanted, make]]) => {
          const { handle, code } = await enqueue("maker", { kind })
          return { kind, wanted, found: handle ? await endOf(handle, make()) : code }
        }),
      )
      return { many: answers.length, wrong: answers.filter(isWrong) }
    },
    offerSettings: async () => {
      const answers = await Promise.all(
        Object.entries(SETTINGS).map(async ([kind, settings]) => {
          const { handle, code } = await enqueue("echo", 1, settings)
          const found = handle ? "kept" : code
          // No worker serves that pool, and that day is far away: the run must not exist at all.
          return { kind, wanted: "OPTIONS_INVALID", found }
        }),
      )
      return { many: answers.length, wrong: answers.filter(isWrong) }
    },
    offerSchedules: async () => {
      const answers = await Promise.all(
        Object.entries(VALUES).map(async ([kind, [wanted, make]]) => {
          const spec = { name: `with ${kind}`, job: jobs.echo, input: make(), cron: "0 0 29 2 *" }
          const found = await carillon.schedules.put(spec, by).then(
            async ({ schedule: { name, input } }) => {
              await carillon.schedules.delete(name, by)
              return endOf({ result: async () => input }, make())
            },
            (error) => error.code ?? error.message,
          )
          return { kind, wanted, found }
        }),
      )
      return { many: answers.length, wrong: answers.filter(isWrong) }
    },
    throwAndLog: async () => {
      const kinds = [
        ...Object.keys(ERRORS).map((kind) => ["thrower", kind]),
        ...Object.keys(LOGS).map((kind) => ["chatty", kind]),
      ]
      await Promise.all(kinds.map(([job, kind]) => enqueue(job, { kind })))
      return { many: kinds.length, wrong: [] }
    },
  }
}
