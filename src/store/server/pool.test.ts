import { describe, expect, it } from "vitest"
import type { Host } from "../../runtime/host.ts"
import type { Connection } from "./connection.ts"
import { createPool, type Pool, type PoolOptions } from "./pool.ts"

/** A server that gives so many connections and no more, and a clock that is moved. */
function crowdedServer(most: number) {
  let nowMs = 0
  let allowed = most
  let connected = 0
  let refusals = 0
  const ends: (() => void)[] = []
  /** What a server takes to end a connection that has said goodbye. */
  let goodbye: Promise<void> | undefined
  let timers: { readonly atMs: number; readonly run: () => void }[] = []
  const after = (ms: number, run: () => void) => {
    const timer = { atMs: nowMs + ms, run }
    timers.push(timer)
    const cancel = () => {
      timers = timers.filter((each) => each !== timer)
    }
    return { cancel }
  }
  const host = {
    monotonicMs: () => nowMs,
    random: () => 1,
    after,
    sleep: (ms: number) => new Promise<void>((resolve) => after(ms, resolve)),
  } as unknown as Host
  const connect = async () => {
    if (connected >= allowed) {
      refusals += 1
      throw Object.assign(new Error("sorry, too many clients already"), { code: "53300", severity: "FATAL" })
    }
    connected += 1
    let usable = true
    const enders: (() => void)[] = []
    const end = () => {
      if (!usable) return
      usable = false
      connected -= 1
      for (const ender of enders) ender()
    }
    const connection = {
      usable: () => usable,
      onEnd: (run: () => void) => enders.push(run),
      destroy: end,
      close: async () => {
        if (goodbye === undefined) return end()
        usable = false
        await goodbye
        usable = true
        end()
      },
    }
    ends.push(end)
    return connection as unknown as Connection
  }
  return {
    connected: () => connected,
    refusals: () => refusals,
    allow: (most: number) => {
      allowed = most
    },
    /** Ends one, counted in the order in which they were made, and has no room for another. */
    endForGood: (nth: number) => {
      allowed = connected - 1
      ends[nth]?.()
    },
    /** From now on no connection is gone before the promise is. */
    endSlowly: (until: Promise<void>) => {
      goodbye = until
    },
    pool: (options: Partial<PoolOptions>) => createPool(host, { url: "", max: 8, connect, ...options }),
    pass: async (ms: number) => {
      nowMs += ms
      for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
        timers = timers.filter((each) => each !== timer)
        timer.run()
      }
      await quiet()
    },
  }
}

/** Until everything that can go on has gone on. */
const quiet = () => new Promise((resolve) => setImmediate(resolve))

/** Holds a connection until it is let go. */
function holdOne(pool: Pool) {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const done = pool.lend(1_000_000, () => held)
  return { letGo: () => letGo(), done }
}

describe("a pool", () => {
  it("makes one connection at a time while there are some: often one is free before another is made", async () => {
    const server = crowdedServer(100)
    const pool = server.pool({})
    await pool.lend(1_000, async () => {})
    await Promise.all(Array.from({ length: 50 }, () => pool.lend(1_000, quiet)))
    expect(server.connected()).toBeLessThanOrEqual(8)
    const quick = server.pool({})
    await quick.lend(1_000, async () => {})
    const before = server.connected()
    await Promise.all([1, 2, 3].map(() => quick.lend(1_000, async () => {})))
    expect(server.connected() - before).toBeLessThanOrEqual(1)
  })

  it("closes connections that no call has needed for ten seconds, and keeps one", async () => {
    const server = crowdedServer(100)
    const pool = server.pool({})
    const held = Array.from({ length: 5 }, () => holdOne(pool))
    await quiet()
    expect(server.connected()).toBe(5)
    for (const { letGo } of held) letGo()
    await quiet()
    await server.pass(9_999)
    expect(server.connected()).toBe(5)
    await server.pass(1)
    expect(server.connected()).toBe(1)
    await pool.lend(1_000_000, async () => {})
    expect(server.connected()).toBe(1)
  })

  it("shares what there is when the server refuses more, and asks again some seconds later", async () => {
    const server = crowdedServer(2)
    const told: unknown[] = []
    const pool = server.pool({
      onRefused: (error) => told.push(error),
      onUnreachable: (error) => told.push(error),
    })
    await pool.lend(1_000_000, async () => {})
    const held = [holdOne(pool), holdOne(pool)]
    await quiet()
    const waiting = Array.from({ length: 10 }, (_, index) => pool.lend(1_000_000, async () => index))
    await quiet()
    expect(server.refusals()).toBe(1)
    held[0]?.letGo()
    expect(await Promise.all(waiting)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect([told.length, server.refusals()]).toEqual([1, 1])
    const again = holdOne(pool)
    await server.pass(5_000)
    void pool.lend(1_000_000, async () => {})
    await quiet()
    expect(server.refusals()).toBe(2)
    again.letGo()
    held[1]?.letGo()
  })

  it("borrows from another pool when it can have none, and what is vital goes first there", async () => {
    const server = crowdedServer(1)
    const work = server.pool({})
    const vital = server.pool({ others: { pools: () => [work], isUrgent: true } })
    const order: string[] = []
    const holding = holdOne(work)
    await quiet()
    const others = ["one", "two"].map((name) => work.lend(1_000_000, async () => order.push(name)))
    await quiet()
    const settled = vital.lend(1_000_000, async () => order.push("vital"))
    await quiet()
    holding.letGo()
    await Promise.all([...others, settled])
    expect([order[0], order.length]).toEqual(["vital", 3])
    expect(server.connected()).toBe(1)
  })

  it("sends all who wait to the other pool when its last connection ends and it can have no other", async () => {
    const server = crowdedServer(2)
    const other = server.pool({})
    await other.lend(1_000_000, async () => {})
    const pool = server.pool({ others: { pools: () => [other], isUrgent: false } })
    void holdOne(pool)
    await quiet()
    const waiting = Array.from({ length: 5 }, (_, index) => pool.lend(1_000_000, async () => index))
    await quiet()
    server.endForGood(1)
    expect(await Promise.race([Promise.all(waiting), quiet()])).toEqual([0, 1, 2, 3, 4])
  })

  it("has those who wait ask again once the server may have room", async () => {
    const server = crowdedServer(1)
    const pool = server.pool({})
    const holding = holdOne(pool)
    await quiet()
    const waiting = [1, 2].map((index) => pool.lend(1_000_000, async () => index))
    await quiet()
    expect(server.refusals()).toBe(1)
    server.allow(8)
    await server.pass(5_000)
    expect(await Promise.race([Promise.all(waiting), quiet()])).toEqual([1, 2])
    holding.letGo()
  })

  it("keeps one also while those that it closes are slow to go", async () => {
    const server = crowdedServer(100)
    const pool = server.pool({})
    const held = [1, 2, 3].map(() => holdOne(pool))
    await quiet()
    let allGone = () => {}
    server.endSlowly(new Promise((resolve) => (allGone = resolve)))
    for (const { letGo } of held) {
      letGo()
      await server.pass(5)
    }
    await server.pass(9_985)
    await server.pass(5)
    await server.pass(5)
    await server.pass(5)
    allGone()
    await quiet()
    expect(server.connected()).toBe(1)
  })
})
