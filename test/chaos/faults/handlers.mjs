// Handlers as they must not be: they block, take memory, poison, exit, and hold what others need.
import { recordHandler } from "../../support/history/record-events.mjs"

const { defineJob } = await import("../../../dist/index.js")
const retry = { attempts: 2, delay: 20 }
const isWorker = (name) => name.startsWith("worker")

/** Each throws or returns something that cannot be written down as it is. */
const POISONS = {
  nul: () => {
    throw new Error("a NUL \0, half of a pair \ud800, and a bell \u0007")
  },
  nothing: () => {
    throw undefined
  },
  frozen: () => {
    throw Object.freeze({ code: 1n })
  },
  trap: () => {
    throw new Proxy({}, { get: () => explode(), has: () => explode(), ownKeys: () => explode() })
  },
  getter: () => {
    throw Object.defineProperty(new Error("x"), "message", { get: explode })
  },
  huge: () => {
    throw new Error("x".repeat(3_000_000))
  },
  cyclic: () => {
    const value = {}
    value.self = value
    return value
  },
  bigint: () => 1n,
  deep: () => JSON.parse(`${"[".repeat(3_000)}${"]".repeat(3_000)}`),
  toJson: () => ({ toJSON: explode }),
  thenable: () => ({
    // biome-ignore lint/suspicious/noThenProperty: this is what it is about
    get then() {
      return explode()
    },
  }),
  nulResult: () => "a NUL \0 and half of a pair \udfff",
  nan: () => Number.NaN,
}

function explode() {
  throw new Error("this cannot even be looked at")
}

export const createJobs = ({ name, record, rest, say }) => {
  const rejectLate = () => {
    say({ type: "rejected.late" })
    void Promise.reject(new Error("no code waits for this any more"))
  }
  return {
    blocker: defineJob({
      name: "blocker",
      pool: "blocked",
      retry: { attempts: 5, delay: 20 },
      run: recordHandler(record, async ({ ms }, ctx) => {
        // The next worker has an easier life.
        const untilMs = performance.now() + (ctx.fencingToken > 1 ? 0 : ms)
        while (performance.now() < untilMs);
        return process.pid
      }),
    }),
    glutton: defineJob({
      name: "glutton",
      pool: "mortal",
      retry,
      run: recordHandler(record, async () => {
        const eaten = []
        for (;;) {
          eaten.push(Buffer.alloc(16 * 1_024 * 1_024, 1))
          await rest(10)
        }
      }),
    }),
    exiter: defineJob({
      name: "exiter",
      pool: "mortal",
      retry,
      run: recordHandler(record, async ({ how }) => {
        await rest(50)
        // Its result is written by then.
        if (how === "after") return void setTimeout(rejectLate, 500)
        if (how === "exit") process.exit(3)
        if (how === "throw") setTimeout(explode, 1)
        if (how === "reject") void Promise.reject(new Error("no code waits for this"))
        await rest(60_000)
      }),
    }),
    poison: defineJob({
      name: "poison",
      retry,
      run: recordHandler(record, async ({ kind }) => POISONS[kind]()),
    }),
    /** Its input is fine when it is enqueued, and not when it is to be executed. */
    picky: defineJob({
      name: "picky",
      retry,
      input: {
        "~standard": {
          version: 1,
          vendor: "chaos",
          validate: (value) => {
            if (!isWorker(name)) return { value }
            if (value.how === "throw") explode()
            return { issues: [{ message: "not in this version", path: ["how"] }] }
          },
        },
      },
      run: recordHandler(record, async () => process.pid),
    }),
    hog: defineJob({
      name: "hog",
      retry,
      run: recordHandler(record, async ({ ms }, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.query("select 1")
          await rest(ms)
          return process.pid
        }),
      ),
    }),
  }
}

export const createCommands = () => ({ poisons: async () => Object.keys(POISONS) })
