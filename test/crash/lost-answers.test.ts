/** A whole Carillon behind a network that loses answers: nothing is lost, no event is false, nothing hangs. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type CarillonEvent, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { newSchema } from "../support/engines.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { SERVER_URLS } from "../support/server-urls.ts"

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A worker with one slot behind a faulty network, and a count of its handler's effects. */
async function behindFaultyNetwork({ slots } = { slots: 1 }) {
  const proxy = await openFaultyNetwork(SERVER_URLS.postgres18)
  const events: CarillonEvent[] = []
  let executed = 0
  let hold: Promise<void> | undefined
  const job = defineJob({
    name: "counted",
    run: async () => {
      executed += 1
      await hold
      return "done"
    },
  })
  const carillon = createCarillon({
    database: proxy.url,
    schema: newSchema(createSystemHost()),
    jobs: [job],
    pools: { default: slots },
    logger: SILENT,
  })
  carillon.subscribe((event) => {
    events.push(event)
  })
  onTestFinished(async () => {
    proxy.pass()
    await carillon.stop({ grace: 0 })
    await proxy.close()
  })
  return {
    proxy,
    events,
    job,
    carillon,
    executed: () => executed,
    /** Handlers wait until the returned function is called. */
    holdHandlers: () => {
      let release = () => {}
      hold = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
    failures: (loop: string) =>
      events.filter((event) => event.type === "loop.failed" && event.loop === loop).length,
  }
}

function untilStarted(carillon: ReturnType<typeof createCarillon>): Promise<void> {
  return new Promise((resolve) => {
    const stop = carillon.subscribe((event) => {
      if (event.type !== "attempt.started") return
      stop()
      resolve()
    })
  })
}

describe("when an answer is lost", () => {
  it("runs of a claim with a lost answer are given back and executed", async () => {
    const { proxy, carillon, job, executed, failures } = await behindFaultyNetwork({ slots: 10 })
    await carillon.start()
    // Only a claim answers with seven rows; if it took two claims, the test tries once more.
    for (let tries = 1; failures("pool default") === 0; tries += 1) {
      expect(tries).toBeLessThan(20)
      proxy.cutInsteadOf("SELECT 7")
      const runs = await carillon.enqueueMany(job, Array(7).fill({ delay: 1 }))
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual(Array(7).fill("done"))
      expect(executed()).toBe(7 * tries)
      for (const run of runs) {
        const outcomes = (await carillon.runs.attempts(run.id)).map(({ outcome }) => outcome)
        expect(outcomes).toEqual(failures("pool default") === 0 ? ["succeeded"] : ["released", "succeeded"])
      }
    }
  })

  it("a result that was written is reported as written, and not executed again", async () => {
    const { proxy, carillon, job, executed, failures, holdHandlers } = await behindFaultyNetwork()
    await carillon.start()
    // The next answer of one row is most likely that of the settle; otherwise the test tries once more.
    for (let tries = 1; failures("settler") === 0; tries += 1) {
      expect(tries).toBeLessThan(20)
      const release = holdHandlers()
      const started = untilStarted(carillon)
      const run = await carillon.enqueue(job)
      await started
      proxy.cutInsteadOf("SELECT 1")
      release()
      expect(await run.result()).toBe("done")
      expect((await carillon.runs.attempts(run.id)).map(({ outcome }) => outcome)).toEqual(["succeeded"])
      expect(executed()).toBe(tries)
    }
  })
})

describe("when no server answers", () => {
  it("that is reported once, at once, and again only after a connection", async () => {
    const { proxy, carillon, job, events } = await behindFaultyNetwork()
    const told = () => events.filter(({ type }) => type === "database.unreachable").length
    proxy.refuse()
    const starting = carillon.start()
    await vi.waitUntil(() => told() === 1, { timeout: 10_000 })
    proxy.pass()
    await starting
    const run = await carillon.enqueue(job)
    expect(await run.result()).toBe("done")
    expect(told()).toBe(1)
  })
})

describe("when the network is silent", () => {
  it("a stop ends all the same, with unwritten results and unsent wake-ups", async () => {
    const { proxy, carillon, job, holdHandlers } = await behindFaultyNetwork()
    await carillon.start()
    const release = holdHandlers()
    const started = untilStarted(carillon)
    await carillon.enqueue(job)
    await started
    proxy.silence("to server", "to client")
    release()
    await carillon.stop({ grace: 0 })
  })

  it("a stop ends a start that hangs", async () => {
    const { proxy, carillon } = await behindFaultyNetwork()
    proxy.silence("to server", "to client")
    const starting = carillon.start().catch((error: unknown) => error)
    await carillon.stop({ grace: 0 })
    expect(await starting).toMatchObject({ code: "CLOSED" })
  })
})

describe("behind a pooler", () => {
  it("runs are executed, without prepared statements and without LISTEN", async () => {
    const { proxy, carillon, job } = await behindFaultyNetwork()
    proxy.disguiseServer()
    await carillon.start()
    const run = await carillon.enqueue(job)
    expect(await run.result()).toBe("done")
    expect(proxy.sent.filter(({ name }) => name !== "")).toEqual([])
    expect(proxy.sent.filter(({ text }) => /^listen/i.test(text))).toEqual([])
  })
})
