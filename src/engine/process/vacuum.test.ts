import { describe, expect, it } from "vitest"
import type { Runtime } from "../../runtime/runtime.ts"
import { createVacuum } from "./vacuum.ts"

const MANY = 50_000

/** A database in which a vacuum takes so long, or fails; and the time that has passed. */
function slow(tookMs: number, { fails = false, connections = true } = {}) {
  let nowMs = 1_000
  let asked = 0
  const told: number[] = []
  const database = {
    abilities: { connections, processes: connections },
    run: async ({ name }: { readonly name: string }) => {
      if (name === "runs/may-vacuum") return [{ may: true }]
      asked += 1
      nowMs += tookMs
      if (fails) throw new Error("no")
      return []
    },
  }
  const runtime = { database, monotonicMs: () => nowMs } as unknown as Runtime
  const vacuum = createVacuum(runtime, (_, failures) => told.push(failures))
  return {
    asked: () => asked,
    told,
    pass: (ms: number) => {
      nowMs += ms
    },
    end: async (runs: number) => {
      for (let run = 0; run < runs; run += 1) vacuum.ended()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe("a vacuum", () => {
  it("is asked for when many runs have ended, and again when as many more have", async () => {
    const { end, asked } = slow(0)
    await end(MANY - 1)
    expect(asked()).toBe(0)
    await end(1)
    expect(asked()).toBe(1)
    await end(MANY - 1)
    expect(asked()).toBe(1)
    await end(1)
    expect(asked()).toBe(2)
  })

  it("is not asked for where there is one connection, which it would keep from everybody", async () => {
    const { end, asked } = slow(0, { connections: false })
    await end(2 * MANY)
    expect(asked()).toBe(0)
  })

  it("is asked for once while it is under way", async () => {
    const { end, asked } = slow(100)
    await end(3 * MANY)
    expect(asked()).toBe(1)
  })

  it.each([false, true])(
    "takes a fiftieth of the time at the most, if it fails (%s) as well",
    async (fails) => {
      const { end, asked, pass } = slow(100, { fails })
      await end(MANY)
      pass(4_999)
      await end(MANY)
      expect(asked()).toBe(1)
      pass(1)
      await end(1)
      expect(asked()).toBe(2)
    },
  )

  it("reports each failure with the number of failures in a row, and throws none", async () => {
    const { end, told } = slow(0, { fails: true })
    await end(MANY)
    await end(MANY)
    expect(told).toEqual([1, 2])
  })
})
