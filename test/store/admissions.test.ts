/** How a process admits runs under limits: as far as there is room, and past every obstacle. */
import { expect, it } from "vitest"
import { createAdmissions } from "../../src/engine/queue/admissions.ts"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { describeEngines } from "../support/engines.ts"
import { admitted, declare, ONE, withSlowLooks } from "../support/limits.ts"
import { host, insert, withStoppedClock } from "../support/runs.ts"
import { execute } from "../support/sql.ts"
import { answerLost, watchDatabase } from "../support/watched-database.ts"

describeEngines("a process that admits under limits", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  /** A process that has just admitted one run, so that it expects few. Each of its looks takes this long. */
  async function stage(lookMs = 0) {
    const { database, clock } = await withStoppedClock(engine)
    const time = { nowMs: 0 }
    const watched = watchDatabase(withSlowLooks(database, () => (time.nowMs += lookMs)))
    let onReady = () => {}
    let doubts = 0
    const runtime = { ...host, database: watched, monotonicMs: () => time.nowMs }
    const one = createAdmissions({ runtime, onReady: () => onReady(), onDoubt: () => (doubts += 1) })
    const sweep = () => one.tick(new AbortController().signal)
    await insert(database, { limits: { first: "first" } })
    await sweep()
    const nextReady = () =>
      new Promise<void>((resolve) => {
        onReady = resolve
      })
    return { database, clock, watched, one, sweep, nextReady, doubts: () => doubts }
  }

  it("admits until there is no room, however few runs it looks at first", async () => {
    const { database, sweep } = await stage()
    await declare(database, "one", 300)
    await insert(database, ...Array(310).fill({ limits: ONE }))
    await sweep()
    expect(await admitted(database)).toHaveLength(1 + 300)
  })

  it("makes every process look when it is unknown which runs it admitted", async () => {
    const { database, watched, sweep, doubts } = await stage()
    await insert(database, { limits: ONE })
    watched.meddle("commit", answerLost)
    await expect(sweep()).rejects.toThrow()
    expect([doubts(), (await admitted(database)).length]).toEqual([1, 2])
  })

  it("looks past runs that wait for room elsewhere, however many they are", async () => {
    const { database, sweep } = await stage()
    await declare(database, "wide", 1_000)
    const others = Array.from({ length: 250 }, (_, n) => ({ limits: { k: "wide", [`other ${n}`]: "one" } }))
    const ahead = await insert(database, ...others)
    await sweep()
    expect(await admitted(database)).toHaveLength(1 + ahead.length)
    await insert(database, { limits: { k: "wide" } })
    await sweep()
    await insert(database, ...others)
    const behind = await insert(database, ...Array(30).fill({ limits: { k: "wide" } }))
    await sweep()
    expect(await admitted(database)).toEqual(expect.arrayContaining(behind))
  })

  itWithConnections("takes the next run if the first in line is gone at the admission", async () => {
    const { database, watched, sweep } = await stage()
    const [gone = "", next] = await insert(database, { limits: ONE }, { limits: ONE })
    watched.meddle("limits/room", async (run) => {
      await database.run(cancelRun, { id: gone, code: "C", message: "no" })
      return run()
    })
    await sweep()
    expect(await admitted(database)).toContain(next)
  })

  it("begins with an earlier occurrence that comes back, however long the look at its line takes", async () => {
    const { database, clock, one, sweep, nextReady } = await stage(20)
    const inOrder = { limits: { k: "some" }, limitKind: "schedule" } as const
    await clock.set("2026-03-01T09:00:10Z")
    await insert(database, inOrder, inOrder)
    await sweep()
    await clock.set("2026-03-01T09:00:05Z")
    const [earlier] = await insert(database, inOrder)
    await declare(database, "some", 2)
    const ready = nextReady()
    one.admit(["k"])
    await ready
    expect(await admitted(database)).toContain(earlier)
  })

  itWithConnections(
    "begins with an earlier occurrence also when it comes while the room is counted",
    async () => {
      const { database, clock, watched, sweep } = await stage()
      const inOrder = { limits: { k: "some" }, limitKind: "schedule" } as const
      await clock.set("2026-03-01T09:00:10Z")
      await insert(database, inOrder)
      await clock.set("2026-03-01T09:00:05Z")
      const come: string[] = []
      watched.meddle("limits/room", async (run) => {
        come.push(...(await insert(database, inOrder)))
        return run()
      })
      await sweep()
      expect(await admitted(database)).toEqual(expect.arrayContaining(come))
      expect(await admitted(database)).toHaveLength(1 + 1)
    },
  )

  it("follows the limit of the first run in a key's line, whatever comes first in other lines", async () => {
    const { database, sweep } = await stage()
    await declare(database, "many", 5)
    await declare(database, "wide", 100)
    await insert(database, ...Array(3).fill({ limits: { job: "wide", k: "many" } }))
    const [first] = await insert(database, { limits: { job: "wide", k: "single" } })
    await execute(database, `update {run_limits} set rank = 0 where key = 'k' and run = '${first}'`)
    await sweep()
    expect(await admitted(database)).toHaveLength(1 + 1)
  })

  it("finds by its sweep a run that arrived behind the start of its look", async () => {
    const { database, clock, one, sweep, nextReady } = await stage(20)
    await declare(database, "one", 1)
    await clock.set("2026-03-01T09:00:10Z")
    await insert(database, { limits: ONE }, { limits: ONE })
    await sweep()
    await clock.set("2026-03-01T09:00:05Z")
    const [late] = await insert(database, { limits: ONE })
    await declare(database, "one", 2)
    const ready = nextReady()
    one.admit(["k"])
    await ready
    expect(await admitted(database)).toHaveLength(1 + 2)
    expect(await admitted(database)).not.toContain(late)
    await declare(database, "one", 3)
    await sweep()
    expect(await admitted(database)).toContain(late)
  })
})
