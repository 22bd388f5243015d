import { describe, expect, it } from "vitest"
import type { ThreadOptions } from "../../../runtime/host.ts"
import type { Runtime } from "../../../runtime/runtime.ts"
import { createSystemHost } from "../../../runtime/system.ts"
import type { Database } from "../../../store/database.ts"
import { createBoard } from "./board.ts"
import { createHeartbeat } from "./heartbeat.ts"

const system = createSystemHost()
const SECRET = "postgres://ada:secret@there/here"

/** Threads that do nothing, and are told to die by the test. Rests take no time and are written down. */
function onFakeThreads(
  options: { address?: string; startThread?: Runtime["startThread"] } = { address: SECRET },
) {
  const threads: { options: ThreadOptions; got: unknown[]; kills: number }[] = []
  const rests: number[] = []
  const failures: { message: string; failures: number }[] = []
  const { address, startThread } = options
  const database = { schema: "s", ...(address && { address }) } as Database
  const stopping = new AbortController()
  const heartbeat = createHeartbeat({
    runtime: {
      ...system,
      random: () => 1,
      sleep: async (ms) => {
        rests.push(ms)
      },
      after: (_, run) => system.after(0, run),
      startThread:
        startThread ??
        ((given) => {
          const thread = { options: given, got: [] as unknown[], kills: 0 }
          threads.push(thread)
          return {
            send: (message) => thread.got.push(message),
            kill: () => {
              thread.kills += 1
              given.onEnd(new Error("killed"))
            },
          }
        }),
      database,
    },
    times: { leaseMs: 1_000, renewEveryMs: 250 },
    onMessage: () => {},
    onFailure: (error, count) => failures.push({ message: String(error), failures: count }),
  })
  return { heartbeat, threads, rests, failures, stopping }
}

/** Lets everything happen that waits for nothing but promises. */
const settle = () => system.sleep(0)

describe("the heartbeat's thread", () => {
  it("is given the way to the database, and the lease to renew, also when that was there first", async () => {
    const { heartbeat, threads, stopping } = onFakeThreads()
    const board = createBoard()
    heartbeat.hold("a", board)
    const running = heartbeat.run(stopping.signal)
    heartbeat.drop()
    heartbeat.hold("b", board)
    expect(threads[0]?.options.data).toEqual({
      address: SECRET,
      schema: "s",
      leaseMs: 1_000,
      renewEveryMs: 250,
    })
    expect(threads[0]?.got).toEqual([
      { kind: "hold", lease: "a", memory: board.memory },
      { kind: "drop" },
      { kind: "hold", lease: "b", memory: board.memory },
    ])
    stopping.abort()
    await running
  })

  it("is started again when it dies, later each time, with the lease as it is then", async () => {
    const { heartbeat, threads, rests, failures, stopping } = onFakeThreads()
    const running = heartbeat.run(stopping.signal)
    for (const death of [1, 2, 3]) {
      if (death === 3) heartbeat.hold("a", createBoard())
      threads[death - 1]?.options.onEnd(new Error("out of memory"))
      await settle()
    }
    expect(threads).toHaveLength(4)
    expect(threads[3]?.got).toMatchObject([{ kind: "hold", lease: "a" }])
    expect(rests).toEqual([1_000, 2_000, 4_000])
    expect(failures.map((failure) => failure.failures)).toEqual([1, 2, 3])
    expect(failures[0]?.message).toContain("out of memory")
    stopping.abort()
    await running
  })

  it("is started again soon when it has renewed before it dies", async () => {
    const { heartbeat, threads, rests, stopping } = onFakeThreads()
    const running = heartbeat.run(stopping.signal)
    for (const death of [1, 2]) {
      const { options } = threads[death - 1] ?? {}
      options?.onMessage({ kind: "renewed", lease: "a", sentAtMs: 0 })
      options?.onEnd(new Error("out of memory"))
      await settle()
    }
    expect(rests).toEqual([1_000, 1_000])
    stopping.abort()
    await running
  })

  it.each(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"])(
    "is not started again when it is missing: %s",
    async (code) => {
      const { heartbeat, threads, failures, stopping } = onFakeThreads()
      const running = heartbeat.run(stopping.signal)
      threads[0]?.options.onEnd(Object.assign(new Error("no such module"), { code }))
      await running
      expect(threads).toHaveLength(1)
      expect(failures).toHaveLength(1)
    },
  )

  it("that cannot even be started is a failure like any other", async () => {
    const startThread = () => {
      throw Object.assign(new TypeError("not a file"), { code: "ERR_WORKER_PATH" })
    }
    const { heartbeat, failures, stopping } = onFakeThreads({ address: SECRET, startThread })
    await heartbeat.run(stopping.signal)
    expect(failures).toMatchObject([{ failures: 1 }])
  })

  it("is told to stop, and is killed when it does not", async () => {
    const { heartbeat, threads, stopping } = onFakeThreads()
    const running = heartbeat.run(stopping.signal)
    stopping.abort()
    await running
    expect(threads).toHaveLength(1)
    expect(threads[0]?.got.at(-1)).toEqual({ kind: "stop" })
    expect(threads[0]?.kills).toBe(1)
  })

  it("is not killed when it stops by itself, and is no failure then", async () => {
    const { heartbeat, threads, failures, stopping } = onFakeThreads()
    const running = heartbeat.run(stopping.signal)
    stopping.abort()
    threads[0]?.options.onEnd(new Error("exit code 0"))
    await running
    expect(threads[0]?.kills).toBe(0)
    expect(failures).toEqual([])
  })

  it("is not wanted where the host has none, or the database only one connection", async () => {
    const none = onFakeThreads({ address: SECRET, startThread: () => undefined })
    await none.heartbeat.run(none.stopping.signal)
    const single = onFakeThreads({})
    await single.heartbeat.run(single.stopping.signal)
    expect([...none.failures, ...single.failures, ...single.threads]).toEqual([])
  })
})
