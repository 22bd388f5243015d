/** The lease of a process: how long it lasts, and when the process has to give it up. */
import { expect, it, onTestFinished } from "vitest"
import { type CarillonEvent, createCarillon, defineJob } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { describeEngines, newSchema } from "../support/engines.ts"
import { openFaultyNetwork } from "../support/faulty-network.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import {
  LEASE_MS,
  leaseOn,
  meddle,
  RENEW_EVERY_MS,
  takeAllLeases,
  unreachable,
  virtualTime,
} from "../support/lease.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"

const { signal } = new AbortController()

describeEngines("a lease", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("counts from when its renewal was sent, not from when that was answered", async () => {
    const time = virtualTime()
    const runtime = time.within(await engine.migrated())
    const { database } = meddle(runtime.database, "workers/renew", () => void time.pass(400))
    const { lease } = leaseOn({ ...runtime, database })
    expect(lease.remainingMs()).toBe(0)
    await lease.open()
    expect(lease.remainingMs()).toBe(LEASE_MS)
    time.pass(100)
    expect(lease.remainingMs()).toBe(LEASE_MS - 100)
    await lease.tick(signal)
    expect(lease.remainingMs()).toBe(LEASE_MS - 400)
    time.pass(LEASE_MS)
    expect(lease.remainingMs()).toBe(0)
  })

  it("does not count from a renewal that failed", async () => {
    const time = virtualTime()
    const runtime = time.within(await engine.migrated())
    const { database } = meddle(runtime.database, "workers/renew", unreachable)
    const { lease } = leaseOn({ ...runtime, database })
    await lease.open()
    time.pass(300)
    await expect(lease.tick(signal)).rejects.toThrow("cannot be reached")
    expect(lease.remainingMs()).toBe(LEASE_MS - 300)
  })

  it("that another process marked dead is given up, and a new one is taken", async () => {
    const runtime = await engine.migrated()
    const { lease, lost } = leaseOn(runtime)
    await lease.open()
    const first = lease.id()
    await takeAllLeases(runtime)
    await lease.tick(signal)
    expect(lost).toEqual([{ lease: first, because: "dead" }])
    expect(lease.id()).not.toBe(first)
    expect(await rowsOf(runtime.database, "select lease from {workers} where not dead")).toEqual([
      { lease: lease.id() },
    ])
  })

  it("counts as in touch with the database only while that answers, without interruption", async () => {
    const time = virtualTime()
    const runtime = time.within(await engine.migrated())
    let away = false
    const { database } = meddle(runtime.database, "workers/renew", () => (away ? unreachable() : undefined))
    const { lease } = leaseOn({ ...runtime, database })
    expect(lease.reachableForMs()).toBe(0)
    await lease.open()
    for (let round = 0; round < 5; round += 1) {
      time.pass(RENEW_EVERY_MS)
      await lease.tick(signal)
    }
    expect(lease.reachableForMs()).toBe(5 * RENEW_EVERY_MS)
    away = true
    await expect(lease.tick(signal)).rejects.toThrow()
    expect(lease.reachableForMs()).toBe(0)
    away = false
    await lease.tick(signal)
    time.pass(100)
    expect(lease.reachableForMs()).toBe(100)
    // A process that slept does not know what happened meanwhile.
    time.pass(LEASE_MS)
    expect(lease.reachableForMs()).toBe(0)
  })

  itWithConnections("that could not be renewed is given up when it runs out, and no sooner", async () => {
    const time = virtualTime()
    const { lease, lost, beatUntil } = leaseOn(time.within(await engine.migrated()))
    await lease.open()
    const [first, openedAtMs] = [lease.id(), time.nowMs()]
    await beatUntil(() => lost.length > 0)
    expect(lost).toEqual([{ lease: first, because: "expired" }])
    expect(time.nowMs() - openedAtMs).toBe(LEASE_MS)
    // Nothing can be claimed between this lease and the next.
    expect(lease.id()).not.toBe(first)
    expect(lease.remainingMs()).toBe(0)
    await lease.tick(signal)
    expect(lease.remainingMs()).toBe(LEASE_MS)
  })

  it("that ran out while the event loop was blocked is checked before it is given up", async () => {
    const time = virtualTime()
    const runtime = time.within(await engine.migrated())
    const { lease, lost, blocked, beatUntil } = leaseOn(runtime)
    await lease.open()
    const first = lease.id()
    let isBlocked = false
    await beatUntil(() => {
      if (!isBlocked) time.pass(5 * LEASE_MS)
      isBlocked = true
      return blocked.length > 0
    })
    expect(blocked).toEqual([{ forMs: 5 * LEASE_MS, renewed: false }])
    expect(lost).toEqual([])
    await lease.tick(signal)
    expect(lease.id()).toBe(first)
    expect(lease.remainingMs()).toBe(LEASE_MS)
  })

  it.runIf(engine.lacks.includes("connections"))(
    "that no other process can take is never given up",
    async () => {
      const time = virtualTime()
      const { lease, lost, beatUntil } = leaseOn(time.within(await engine.migrated()))
      await lease.open()
      const openedAtMs = time.nowMs()
      await beatUntil(() => time.nowMs() > openedAtMs + 10 * LEASE_MS)
      expect(lost).toEqual([])
    },
  )
})

it("ends for a handler when it runs out, although the database is away", async () => {
  const proxy = await openFaultyNetwork(SERVER_URLS.postgres18)
  const aborted = createGate()
  const lost: CarillonEvent[] = []
  let starts = 0
  const job = defineJob({
    name: "patient",
    run: async (_, ctx) => {
      starts += 1
      if (starts > 1) return "done"
      proxy.silence("to server", "to client")
      ctx.signal.addEventListener("abort", () => aborted.open())
      await aborted.opened
      return ctx.signal.reason
    },
  })
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const schema = newSchema(createSystemHost())
  const carillon = createCarillon({ database: proxy.url, schema, jobs: [job], lease: "1s", logger: silent })
  onTestFinished(async () => {
    proxy.pass()
    await carillon.stop({ grace: 0 })
    await proxy.close()
  })
  carillon.subscribe((event) => {
    if (event.type === "lease.lost") lost.push(event)
  })
  await carillon.start()
  const run = await carillon.enqueue(job)
  await aborted.opened
  expect(lost).toMatchObject([{ because: "expired", runs: 1 }])
  proxy.pass()
  proxy.cut()
  // Under a new lease, and after the old one was reaped.
  expect(await run.result()).toBe("done")
  expect((await carillon.runs.attempts(run.id)).map(({ outcome }) => outcome)).toEqual(["lost", "succeeded"])
})
