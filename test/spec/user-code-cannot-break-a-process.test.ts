/** What users, handlers and listeners may do to a process without breaking it. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { createCarillon, defineJob } from "../../src/index.ts"
import { createTestKit, type TestKit } from "../../src/testing/index.ts"

const noop = defineJob({ name: "noop", run: async () => "done" })

/** A value that throws on every access. */
function untouchable(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

let kit: TestKit
beforeAll(async () => {
  kit = await createTestKit()
})
afterAll(() => kit.close())

describe("a handler", () => {
  it("may throw an unreadable value: the attempt has failed, like any other", async () => {
    const job = defineJob({
      name: "hostile",
      retry: { attempts: 1 },
      run: async () => {
        throw untouchable()
      },
    })
    await using app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.drain()
    await expect(run.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
  })

  it("may enqueue, and may wait for that run", async () => {
    await using app = await kit.app({ jobs: [noop], pools: { default: 2 } })
    const parent = defineJob({ name: "parent", run: async () => (await app.enqueue(noop)).id })
    await using family = await kit.app({ jobs: [parent] })
    const run = await family.enqueue(parent)
    await family.drain()
    await app.drain()
    expect(await app.runs.wait((await run.result()) as string)).toMatchObject({ result: "done" })
  })
})

describe("a listener", () => {
  it("may throw, or reject, and the runs go on", async () => {
    await using app = await kit.app({ jobs: [noop] })
    app.subscribe(() => {
      throw untouchable()
    })
    app.subscribe(async () => {
      throw new Error("later")
    })
    const run = await app.enqueue(noop)
    await app.drain()
    expect(await run.result()).toBe("done")
  })

  it("may be a broken logger", async () => {
    const fail = () => {
      throw new Error("the disk of the log is full")
    }
    await using app = await kit.app({
      jobs: [noop],
      logger: { debug: fail, info: fail, warn: fail, error: fail },
    })
    const run = await app.enqueue(noop)
    await app.drain()
    expect(await run.result()).toBe("done")
  })
})

describe("a caller that waits for a result", () => {
  it("hears of a stop, before it and after it", async () => {
    await using app = await kit.app({ jobs: [noop] })
    const run = await app.enqueue(noop, undefined, { delay: "1h" })
    const before = expect(run.result()).rejects.toMatchObject({ code: "CLOSED" })
    await app.stop()
    await before
    await expect(run.result()).rejects.toMatchObject({ code: "CLOSED" })
  })

  it("may write the id in capitals", async () => {
    await using app = await kit.app({ jobs: [noop] })
    const run = await app.enqueue(noop)
    await app.drain()
    expect(await app.runs.wait(run.id.toUpperCase())).toMatchObject({ result: "done" })
  })

  it("gets it although another caller gave up waiting for the same run", async () => {
    await using app = await kit.app({ jobs: [noop] })
    const run = await app.enqueue(noop)
    const impatient = new AbortController()
    const first = expect(run.result({ signal: impatient.signal })).rejects.toThrow("enough")
    const second = run.result()
    impatient.abort(new Error("enough"))
    await first
    await app.drain()
    expect(await second).toBe("done")
  })
})

describe("a stop", () => {
  it("lets calls from before it finish", async () => {
    await using app = await kit.app({ jobs: [noop] })
    const enqueued = app.enqueue(noop)
    await app.stop()
    const { id } = await enqueued
    await app.restart()
    await app.drain()
    expect(await app.runs.wait(id)).toMatchObject({ result: "done" })
  })

  it("hurries when a second call has less patience", async () => {
    const endless = defineJob({ name: "endless", run: () => new Promise<void>(() => {}) })
    await using app = await kit.app({ jobs: [endless] })
    await app.enqueue(endless)
    await app.tick()
    const patient = app.stop({ grace: "1h" })
    await app.stop({ grace: 0 })
    await patient
  })

  it("before any start does nothing, however often it is called", async () => {
    const carillon = createCarillon({ database: "memory", jobs: [noop] })
    await carillon.stop()
    await carillon.stop()
    await expect(carillon.start()).rejects.toMatchObject({ code: "CLOSED" })
  })
})

describe("a process", () => {
  it("reports which of its jobs it leaves to others", async () => {
    const mail = defineJob({ name: "mail", pool: "mail", run: async () => {} })
    await using app = await kit.app({ jobs: [noop, mail], pools: { mail: 1 } })
    await app.start()
    expect(await app.until("pools.unserved")).toMatchObject({ jobs: ["noop (default)"] })
  })

  it("takes runs back only from processes that held some", async () => {
    await using app = await kit.app({ jobs: [noop], lease: "60s" })
    await app.stop()
    await app.restart()
    app.crashAt("claim.taken")
    await app.enqueue(noop)
    await app.drain()
    await app.restart()
    await app.clock.advance("61s")
    const { leases } = await app.until("lease.reaped")
    expect(leases).toHaveLength(1)
  })
})

describe("the test kit", () => {
  it("ends a drain that would go on for ever, and names the job", async () => {
    const again = defineJob({
      name: "again",
      run: async () => {
        await app.enqueue(again)
      },
    })
    await using app = await kit.app({ jobs: [again] })
    await app.enqueue(again)
    await expect(app.drain({ rounds: 20 })).rejects.toThrow("again goes on and on")
  })

  it("drains a run through as many attempts as it has", async () => {
    const stubborn = defineJob({
      name: "stubborn",
      retry: { attempts: 40, base: 0 },
      run: async () => Promise.reject(new Error("no")),
    })
    await using app = await kit.app({ jobs: [stubborn] })
    const run = await app.enqueue(stubborn)
    await app.drain()
    expect(await app.runs.attempts(run.id)).toHaveLength(40)
  })

  it("lets a test go on after a crash: nothing hangs, and the dead process does not answer", async () => {
    await using app = await kit.app({ jobs: [noop], at: "2026-01-01T00:00Z" })
    await app.enqueue(noop, undefined, { delay: "1m" })
    app.crashAt("claim.taken")
    await app.clock.advance("1h")
    expect(() => app.runs).toThrow("restart()")
    await app.restart()
    await app.clock.advance("61s")
    await app.until("attempt.finished")
  })

  it("refuses unknown options, instead of waiting for them", async () => {
    await using app = await kit.app()
    expect(() => app.crashAt("attempt.end" as "attempt.ended")).toThrow('did you mean "attempt.ended"?')
    await expect(app.until("atempt.finished" as "attempt.finished")).rejects.toThrow(
      'did you mean "attempt.finished"?',
    )
    await expect(createTestKit({ databse: "x" } as object)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    await expect(kit.app({ schema: "mine" } as object)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it("lets a handle outlive the process that enqueued", async () => {
    await using app = await kit.app({ jobs: [noop], lease: "60s" })
    const run = await app.enqueue(noop)
    app.crashAt("claim.taken")
    await app.drain()
    await app.restart()
    await app.clock.advance("61s")
    expect(await run.result()).toBe("done")
  })

  it("can be closed twice", async () => {
    const app = await kit.app()
    await Promise.all([app.close(), app.close()])
    await app.close()
  })

  it("keeps two drains at once within the slots", async () => {
    const most = vi.fn()
    let running = 0
    const job = defineJob({
      name: "single",
      run: async () => {
        running += 1
        most(running)
        await Promise.resolve()
        running -= 1
      },
    })
    await using app = await kit.app({ jobs: [job], pools: { default: 1 } })
    await Promise.all([1, 2, 3].map(() => app.enqueue(job)))
    await Promise.all([app.drain(), app.drain()])
    expect(Math.max(...most.mock.calls.flat())).toBe(1)
  })
})
