import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DatabaseError } from "../../src/errors.ts"
import type { Host } from "../../src/runtime/host.ts"
import { wallClock } from "../../src/runtime/system.ts"
import { text } from "../../src/store/codec.ts"
import type { Database } from "../../src/store/database.ts"
import { openServer } from "../../src/store/server/server.ts"
import { statement } from "../../src/store/statement.ts"
import { type Fate, type Network, PERFECT } from "./database/faults.ts"
import { createDialer } from "./database/network.ts"
import { createServer } from "./database/server.ts"
import { type Ground, layGround, START_US } from "./database/shared-database.ts"
import { createKernel, type Kernel } from "./kernel/kernel.ts"
import { createChance } from "./kernel/seeded-random.ts"
import { createTrace } from "./kernel/trace.ts"
import { createSimHost } from "./world/host.ts"
import { guardAmbient } from "./world/real-time-guard.ts"

const mark = statement({
  name: "sim/mark",
  params: { mark: text },
  returns: {},
  sql: "insert into {marks} (mark) values (@mark)",
})

const DEADLINE_MS = 8_000

describe("the simulated network", () => {
  let ground: Ground
  beforeAll(async () => {
    ground = await layGround()
  }, 60_000)
  afterAll(() => ground.close())

  interface Stage {
    readonly kernel: Kernel
    readonly host: Host
    readonly database: Database
    readonly befall: (fate: Fate | undefined) => void
    readonly marks: () => number
    readonly counted: Record<string, number>
    /** Lets things happen until this has an answer, which is returned as a word. */
    readonly outcomeOf: (call: Promise<unknown>) => Promise<string>
  }

  function open(): Stage {
    ground.reset()
    const chance = createChance("network")
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
    const kernel = createKernel({ chance, trace: createTrace(), turn })
    const server = createServer({ kernel, wire: ground.wire, startUs: START_US, trust: (work) => work() })
    const owner = { isAlive: () => true, pausedUntilUs: () => 0 }
    const skew = { wallMs: 0, speed: 1, bootMs: 0 }
    const host = createSimHost({
      kernel,
      owner,
      chance,
      skew,
      pid: 1,
      wallMs: () => 0,
      onCrashPoint: () => {},
    })
    const counted: Record<string, number> = {}
    let network: Network = PERFECT
    const link = {
      network: () => network,
      cutUntilUs: () => 0,
      count: (fault: string) => {
        counted[fault] = (counted[fault] ?? 0) + 1
        // What is to befall a call befalls one, and the next is fine.
        network = PERFECT
      },
      stray: () => {},
      onSend: () => {},
    }
    const { connect } = createDialer({ kernel, server, owner, name: "test", link })
    return {
      kernel,
      host,
      counted,
      database: openServer(host, { url: "simulated", schema: ground.schema, connect }),
      befall: (fate) => {
        network = fate === undefined ? PERFECT : { ...PERFECT, rates: { [fate]: 1 } }
      },
      marks: () => ground.wire.send({ text: `select from "${ground.schema}".marks` }).rows.length,
      outcomeOf: async (call) => {
        let outcome: string | undefined
        call.then(
          () => {
            outcome = "fine"
          },
          (error: unknown) => {
            outcome = error instanceof DatabaseError ? error.code : String(error)
          },
        )
        // It has to be sent first.
        await turn()
        await kernel.run(() => outcome !== undefined)
        return outcome ?? "nothing"
      },
    }
  }

  const later = (kernel: Kernel) => kernel.run(() => kernel.nowUs() > 30_000_000)

  it.each([
    // What befalls a statement, what its caller hears, whether it is done then, and whether it is done in the end.
    ["slow", "fine", 1, 1],
    ["unsent", "fine", 1, 1],
    ["busy", "fine", 1, 1],
    ["full", "DATABASE_FULL", 0, 0],
    ["lost-before", "OUTCOME_UNKNOWN", 0, 0],
    ["lost-after", "OUTCOME_UNKNOWN", 1, 1],
    ["lost-late", "OUTCOME_UNKNOWN", 0, 1],
    ["ended-before", "OUTCOME_UNKNOWN", 0, 0],
    ["ended-after", "OUTCOME_UNKNOWN", 1, 1],
    ["silent-never", "DATABASE_DEADLINE", 0, 0],
    ["silent-done", "DATABASE_DEADLINE", 1, 1],
  ] as const)(
    "does to a statement what %s says: %s, done %i times, in the end %i",
    async (fate, told, then, finally_) => {
      const { database, kernel, befall, marks, outcomeOf, counted } = open()
      await outcomeOf(database.run(mark, { mark: "warm" }))
      befall(fate)
      const outcome = await outcomeOf(database.run(mark, { mark: fate }, { deadlineMs: DEADLINE_MS }))
      expect([outcome, marks() - 1]).toEqual([told, then])
      await later(kernel)
      expect(marks() - 1).toBe(finally_)
      expect(counted).toEqual({ [fate]: 1 })
    },
  )

  it("lets a call that is never answered end at its deadline, and not before", async () => {
    const { database, kernel, host, befall, outcomeOf } = open()
    await outcomeOf(database.run(mark, { mark: "warm" }))
    befall("silent-never")
    const fromMs = host.monotonicMs()
    await outcomeOf(database.run(mark, { mark: "x" }, { deadlineMs: DEADLINE_MS }))
    expect(host.monotonicMs() - fromMs).toBeCloseTo(DEADLINE_MS, 0)
    expect(kernel.nowUs()).toBeLessThan(9_000_000)
  })

  it.each([
    ["lost-before", 0],
    ["lost-after", 1],
    ["silent-done", 1],
    ["silent-never", 0],
  ] as const)("does to a commit what %s says", async (fate, committed) => {
    const { database, kernel, befall, marks, outcomeOf } = open()
    const writing = database.transaction(
      async (tx) => {
        await tx.run(mark, { mark: "inside" })
        befall(fate)
      },
      { deadlineMs: DEADLINE_MS },
    )
    expect(await outcomeOf(writing)).toBe(fate.startsWith("lost") ? "OUTCOME_UNKNOWN" : "DATABASE_DEADLINE")
    await later(kernel)
    expect(marks()).toBe(committed)
  })

  it("lets everybody else wait while a transaction is open, and see it whole or not at all", async () => {
    const { database, marks, outcomeOf } = open()
    const order: string[] = []
    const writing = database.transaction(async (tx) => {
      await tx.run(mark, { mark: "first" })
      order.push("inside")
      await tx.run(mark, { mark: "second" })
    })
    const beside = database.run(mark, { mark: "beside" }).then(() => order.push("beside"))
    await outcomeOf(Promise.all([writing, beside]))
    expect(marks()).toBe(3)
  })

  it("finds out when the product asks the platform for the time", () => {
    const ambient = guardAmbient(1_000)
    try {
      expect(wallClock.nowMs()).toBe(1_000)
      expect(ambient.offences).toEqual([expect.stringContaining("Date.now")])
      ambient.trust(() => wallClock.nowMs())
      expect(ambient.offences).toHaveLength(1)
    } finally {
      ambient.restore()
    }
  })
})
