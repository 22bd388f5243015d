import { describe, expect, it } from "vitest"
import { takeFreeKeys } from "../../src/engine/enqueue/run-keys.ts"
import { takeKeys } from "../../src/store/keys/take.ts"
import { describeEngines } from "../support/engines.ts"
import { enqueue, enqueuerOf, greet, runUnder } from "../support/keys.ts"
import { claim, finish, host, openLease, withStoppedClock } from "../support/runs.ts"
import { hold, rowsOf, untilBlocked } from "../support/sql.ts"

describeEngines("a key among many processes", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  describe("under concurrent enqueues", () => {
    itWithConnections.each([
      ["held while its run lives", "live"],
      ["remembered", null],
      ["held for an hour", 3_600_000],
    ] as const)("and that is %s makes one run, and every answer is its id", async (_, keyFor) => {
      const { database } = await engine.migrated()
      const processes = [database, await engine.open(database.schema)].map(enqueuerOf)
      const calls = Array.from({ length: 16 }, (_each, index) =>
        processes[index % 2]?.write(greet, [runUnder("k", { keyFor })]),
      )
      const answers = (await Promise.all(calls)).flatMap((written) => written?.answers ?? [])
      expect(answers).toHaveLength(16)
      expect(answers.filter(({ created }) => created)).toHaveLength(1)
      expect(await rowsOf(database, "select id from {runs}")).toEqual([{ id: answers[0]?.id }])
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    })

    itWithConnections("after its time is over goes to one of them", async () => {
      const { database, clock } = await withStoppedClock(engine)
      await enqueue(database, runUnder("k", { keyFor: 1 }))
      await clock.set("2026-03-01T09:01Z")
      const calls = Array.from({ length: 16 }, () => database.transaction((tx) => enqueue(tx, runUnder("k"))))
      const answers = await Promise.all(calls)
      expect(answers.filter((answer) => answer?.created)).toHaveLength(1)
      expect(new Set(answers.map((answer) => answer?.id)).size).toBe(1)
    })

    itWithConnections("is never answered with nothing, while its runs come and go", async () => {
      const { database } = await engine.migrated()
      const lease = await openLease(database, 600_000)
      const { write } = enqueuerOf(database)
      const enqueued = Promise.all(
        Array.from({ length: 8 }, async () => {
          const answers: unknown[] = []
          for (let time = 0; time < 15; time += 1)
            answers.push((await write(greet, [runUnder("k")])).answers[0]?.id)
          return answers
        }),
      )
      let done = false
      const settled = (async () => {
        while (!done) await finish(database, await claim(database, lease))
      })()
      const answers = (await enqueued).flat()
      done = true
      await settled
      expect(answers).toHaveLength(120)
      const known = "select id from {runs} union select run from {attempts}"
      const ids = new Set((await rowsOf(database, known)).map(({ id }) => id))
      expect(answers.filter((id) => !ids.has(id))).toEqual([])
    })
  })

  itWithConnections("that an open transaction found taken does not hold up its run", async () => {
    const { database } = await withStoppedClock(engine)
    const run = runUnder("k")
    await enqueue(database, run)
    const claimed = await claim(database, await openLease(database))
    const asking = await hold(database, async (tx) => {
      expect(await enqueue(tx, runUnder("k"))).toEqual({ id: run.id, created: false })
    })
    expect(await finish(database, claimed)).toEqual([run.id])
    await asking.release()
  })

  describe("among others in one call", () => {
    itWithConnections(
      "is locked in key order, whatever the order of the call, so that no call deadlocks",
      async () => {
        const { database } = await withStoppedClock(engine)
        const holder = await hold(database, (tx) => enqueue(tx, runUnder("b")))
        const wanted = ["c", "b", "a"].map((key) => runUnder(key))
        const taking = database.transaction((tx) => takeFreeKeys(tx, greet, wanted))
        await untilBlocked(await engine.open(database.schema))
        const params = { job: "greet", tenants: [""], runs: [host.newId()], forMs: [1], keepMs: [null] }
        // The key behind the one it waits for is free, the one before it is not.
        expect(await database.run(takeKeys, { ...params, keys: ["c"] })).toHaveLength(1)
        const before = database.run(takeKeys, { ...params, keys: ["a"] })
        await untilBlocked(await engine.open(database.schema), 2)
        await holder.release()
        expect((await taking).map(({ created }) => created)).toEqual([false, false, true])
        expect(await before).toEqual([])
      },
    )
  })
})
