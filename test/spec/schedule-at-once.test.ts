/** Runs of schedules that are ready as soon as they are made, and those that have to wait in line. */
import { expect, it } from "vitest"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { tryLockLimits } from "../../src/store/limits/try-lock.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { sweep } from "../support/limits.ts"
import { openSchedulerStage } from "../support/scheduler-stage.ts"
import { execute, rowsOf } from "../support/sql.ts"

const EVERY = { every: "10m" } as const

describeEngines("an occurrence under an overlap key", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  async function stage() {
    const on = await openSchedulerStage(engine)
    const states = async (id: string) =>
      (await on.runs(id)).map(({ occurrence, state }) => `${String(occurrence).slice(0, 5)} ${state}`)
    const end = (where: string) =>
      execute(
        on.runtime.database,
        `delete from {run_limits} where run in (select id from {runs} where ${where});
         delete from {runs} where ${where}`,
      )
    return { ...on, states, end }
  }

  it.each(["skip", "queue", "collapse", "replace"] as const)(
    "is ready at once under %s if its key is free, and nothing is left to admit",
    async (overlap) => {
      const { add, at, states, parked, runtime } = await stage()
      const id = await add({ spec: EVERY, overlap })
      await at("09:10")
      expect(await states(id)).toEqual(["09:10 ready"])
      expect(parked).toEqual([])
      // A worker may claim the run ahead of a free slot: its place is that of its schedule alone.
      expect(await rowsOf(runtime.database, "select solo, limited from {runs}")).toEqual([
        { solo: false, limited: true },
      ])
      expect(await rowsOf(runtime.database, "select key, kind, admitted, wave from {run_limits}")).toEqual([
        { key: `schedule:${id}`, kind: "schedule", admitted: true, wave: 0 },
      ])
    },
  )

  it("takes two statements more than one that may overlap, and no transaction more", async () => {
    const { add, at, end, database } = await stage()
    await add({ spec: EVERY, overlap: "queue" })
    // The first occurrence makes the partition of its month.
    await at("09:10")
    await end("true")
    const before = database.ran.length
    await at("09:20")
    expect(database.ran.slice(before)).toEqual([
      "schedules/next-due",
      "schedules/due",
      "schedules/take",
      "limits/try-lock-each",
      "limits/unused",
      "schedules/fire",
      "commit",
      "schedules/next-due",
    ])
  })

  it("waits behind an earlier one in line, even when the run before both has ended", async () => {
    const { add, at, states, end, parked, runtime } = await stage()
    const id = await add({ spec: EVERY, overlap: "queue" })
    await at("09:10")
    await at("09:20")
    expect(await states(id)).toEqual(["09:10 ready", "09:20 parked"])
    expect(parked).toEqual([`schedule:${id}`])
    await end("occurrence = '2026-03-02T09:10Z'")
    await at("09:30")
    expect(await states(id)).toEqual(["09:20 parked", "09:30 parked"])
    await sweep(runtime.database)
    expect(await states(id)).toEqual(["09:20 ready", "09:30 parked"])
  })

  it("is ready at once as often as its key is free, in one wave after the other", async () => {
    const { add, at, states, end, runtime } = await stage()
    const id = await add({ spec: EVERY, overlap: "queue" })
    for (const minute of [10, 20, 30, 40, 50]) {
      await at(`09:${minute}`)
      expect(await states(id)).toEqual([`09:${minute} ready`])
      if (minute < 50) await end("true")
    }
    expect(await rowsOf(runtime.database, "select waves from {limit_waves}")).toEqual([{ waves: [1] }])
    expect(await rowsOf(runtime.database, "select wave from {run_limits}")).toEqual([{ wave: 1 }])
  })

  it("is the first of those that were missed, and of those that share a key, and the only one", async () => {
    const { add, at, states } = await stage()
    const late = await add({ spec: { ...EVERY, offset: "1m" }, overlap: "queue", overlapKey: "k" })
    const early = await add({ spec: EVERY, overlap: "queue", misfire: "all", overlapKey: "k" })
    await at("09:21")
    expect(await states(early)).toEqual(["09:10 ready", "09:20 parked"])
    expect(await states(late)).toEqual(["09:21 parked"])
  })

  it("is parked if its job has a limit, for admission to count both", async () => {
    const { add, at, states, parked, runtime } = await stage()
    await execute(
      runtime.database,
      `insert into {jobs} (name, settings, declared_at) values ('work', '{"concurrency":1}', now())`,
    )
    const id = await add({ spec: EVERY, overlap: "queue", job: "work" })
    await at("09:10")
    expect(await states(id)).toEqual(["09:10 parked"])
    expect(parked).toEqual([`schedule:${id}`, expect.stringContaining("work")])
  })

  itWithConnections("is parked while another transaction admits under its key", async () => {
    const { add, at, states, parked, runtime } = await stage()
    const id = await add({ spec: EVERY, overlap: "queue" })
    const admission = await admitting(runtime, `schedule:${id}`)
    await at("09:10")
    expect(await states(id)).toEqual(["09:10 parked"])
    expect(parked).toEqual([`schedule:${id}`])
    await admission.end()
    await sweep(runtime.database)
    expect(await states(id)).toEqual(["09:10 ready"])
  })

  itWithConnections(
    "is parked when another is admitted just before it gets the lock of its key",
    async () => {
      const { add, at, states, end, database, runtime } = await stage()
      const id = await add({ spec: EVERY, overlap: "queue" })
      await at("09:10")
      await end("true")
      database.meddle("limits/try-lock-each", async (run) => {
        await execute(
          runtime.database,
          `insert into {run_limits} (run, key, kind, admitted, wave, priority, rank)
         values (gen_random_uuid(), 'schedule:${id}', 'schedule', true, 0, 0, 1)`,
        )
        return run()
      })
      await at("09:20")
      expect(await states(id)).toEqual(["09:20 parked"])
    },
  )

  it("is ready at once also in a crowd, of which one transaction locks a part of the keys", async () => {
    const { add, at, end, database, parked } = await stage()
    const ids = []
    for (let count = 0; count < 201; count += 1) ids.push(await add({ spec: EVERY, overlap: "queue" }))
    await at("09:10")
    await end("true")
    const before = database.count("limits/try-lock-each")
    await at("09:20")
    expect(parked).toEqual([])
    expect(database.count("limits/try-lock-each")).toBe(before + 2)
    const ready = await rowsOf(database, "select count(*)::int as n from {runs} where stage = 'queued'")
    expect(ready).toEqual([{ n: ids.length }])
  })
})

/** A transaction that has the right to admit under a key, until it ends. */
async function admitting({ database }: Runtime, key: string) {
  const [taken, over] = [createGate(), createGate()]
  const held = database.transaction(async (tx) => {
    await tx.run(tryLockLimits, { schema: database.schema, keys: [key] })
    taken.open()
    await over.opened
  })
  await taken.opened
  return {
    end: async () => {
      over.open()
      await held
    },
  }
}
