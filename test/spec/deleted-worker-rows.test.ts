/** What `delete from carillon.workers` by an operator does to the runs of those workers: no lasting damage. */
import { expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { createWatchedKit } from "../support/watched-app.ts"

describeEngines("a worker whose row is deleted", (engine) => {
  const kitHere = () => createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())

  it("gives up what it holds and takes another lease, and its runs go on", async () => {
    const kit = await kitHere()
    const gate = createGate()
    let executed = 0
    const job = defineJob({
      name: "held",
      run: async () => {
        executed += 1
        if (executed === 1) await gate.opened
        return executed
      },
    })
    const app = await kit.app({ jobs: [job] })
    const run = await app.enqueue(job)
    await app.tick()
    const { lease } = await app.until("worker.started")
    await execute(app.database, "delete from {workers}")
    await app.tick()
    expect(await app.until("lease.lost")).toMatchObject({ lease, because: "dead", runs: 1 })
    gate.open()
    await app.drain()
    expect((await app.runs.attempts(run.id)).map(({ outcome }) => outcome)).toEqual(["lost", "succeeded"])
    expect(await run.result()).toBe(2)
    expect(await rowsOf(app.database, "select from {workers} where not dead")).toHaveLength(1)
    expect(await rowsOf(app.database, "select from {claims} join {runs} on id = any (runs)")).toEqual([])
    await app.close()
    await kit.close()
  })

  it("while it is dead leaves its runs to the next process, also those it had only claimed", async () => {
    const kit = await kitHere()
    const job = defineJob({ name: "orphan", run: async () => "done" })
    const app = await kit.app({ jobs: [job] })
    app.crashAt("claim.taken")
    const runs = await Promise.all([app.enqueue(job), app.enqueue(job)])
    await app.drain()
    await app.restart()
    await execute(app.database, "delete from {workers} where not dead")
    await app.drain()
    expect(app.events.filter(({ type }) => type === "lease.reaped")).toMatchObject([{ runs: 2 }])
    for (const run of runs) expect(await run.result()).toBe("done")
    await app.close()
    await kit.close()
  })
})
