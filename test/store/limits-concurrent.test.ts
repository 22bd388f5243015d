import { expect, it } from "vitest"
import { admitRuns } from "../../src/store/limits/admit.ts"
import { nextInLine } from "../../src/store/limits/next-in-line.ts"
import { tryLockLimits } from "../../src/store/limits/try-lock.ts"
import { describeEngines } from "../support/engines.ts"
import { admitted, declare, ONE, sweep, wholeLines } from "../support/limits.ts"
import { claim, finish, insert, openLease, withStoppedClock } from "../support/runs.ts"
import { hold, rowsOf } from "../support/sql.ts"

describeEngines("a limit under concurrent admissions", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  itWithConnections("is counted by one process at a time, and by the others afterwards", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, { limits: ONE }, { limits: ONE })
    const [first] = await database.run(nextInLine, { ...wholeLines(["k"]), full: [], limit: 1 })
    const keys = { schema: database.schema, keys: ["k"] }
    const admitting = await hold(database, async (tx) => {
      expect(await tx.run(tryLockLimits, keys)).toEqual([{ taken: true }])
      expect(await tx.run(admitRuns, { ids: [first?.run ?? ""], keys: ["k"] })).toHaveLength(1)
    })
    expect(await database.run(tryLockLimits, keys)).toEqual([{ taken: false }])
    expect(await database.run(tryLockLimits, { ...keys, keys: ["j", "k"] })).toEqual([{ taken: false }])
    expect(await database.run(tryLockLimits, { ...keys, keys: ["j"] })).toEqual([{ taken: true }])
    expect(await database.run(tryLockLimits, { ...keys, schema: "another" })).toEqual([{ taken: true }])
    const waiting = sweep(await engine.open(database.schema))
    await admitting.release()
    expect(await waiting).toEqual([])
    expect(await admitted(database)).toEqual([first?.run])
  })

  itWithConnections.each([1, 3])(
    "never exceeds its cap of %i, and admits every run in the end",
    async (cap) => {
      const { database } = await withStoppedClock(engine)
      await declare(database, "one", cap)
      const ids = await insert(database, ...Array(32).fill({ limits: { k: "one", other: "wide" } }))
      await declare(database, "wide", 100)
      const running = new Set<string>()
      let most = 0
      const executed: string[] = []
      const processes = Array.from({ length: 8 }, async () => {
        const own = await engine.open(database.schema)
        const lease = await openLease(own)
        while (executed.length < ids.length) {
          await sweep(own)
          const claimed = await claim(own, lease, { limit: 2 })
          for (const id of claimed.ids) running.add(id)
          most = Math.max(most, running.size)
          for (const id of claimed.ids) running.delete(id)
          executed.push(...(await finish(own, claimed)))
        }
      })
      await Promise.all(processes)
      expect(most).toBeLessThanOrEqual(cap)
      expect(executed.toSorted()).toEqual(ids)
      expect(await rowsOf(database, "select run from {run_limits}")).toEqual([])
    },
  )
})
