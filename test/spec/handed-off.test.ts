/** Runs that were started by their own insert: like any other, and none of them lost or executed twice. */
import { describe, expect, inject, it, onTestFinished, vi } from "vitest"
import { Bury, defineJob, type JobContext } from "../../src/index.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn, createWatchedKit } from "../support/watched-app.ts"
import { answerLost } from "../support/watched-database.ts"

describe("a run that was started by its insert", () => {
  it("is like any other: its options, its attempts, its end", async () => {
    const kit = await createWatchedKit()
    onTestFinished(() => kit.close())
    const contexts: JobContext[] = []
    const job = defineJob({
      name: "any",
      retry: { attempts: 9, delay: "1h" },
      run: async (input: { n: number }, ctx) => {
        contexts.push(ctx)
        if (ctx.attempt === 2) return Bury(`after ${input.n}`)
        throw new Error("again")
      },
    })
    await using app = await kit.app({ jobs: [job], at: "2026-03-01T09:00Z" })
    await app.drain()
    const run = await app.enqueue(
      job,
      { n: 7 },
      { tenant: "acme", tags: ["t"], retry: { attempts: 3, delay: "1m" } },
    )
    expect(contexts).toHaveLength(1)
    expect(app.database.count("runs/claim")).toBe(0)
    await app.clock.advance("1m")
    await expect(run.result()).rejects.toMatchObject({ cause: { message: "after 7" } })
    const same = { runId: run.id, tenant: "acme", tags: ["t"], due: new Date("2026-03-01T09:00Z") }
    expect(contexts).toMatchObject([
      { ...same, attempt: 1, fence: 1 },
      { runId: run.id, tenant: "acme", tags: ["t"], attempt: 2, fence: 2 },
    ])
    const attempts = await app.attempts(run.id)
    expect(attempts.map(({ id }) => id)).toEqual(contexts.map(({ attemptId }) => attemptId))
    expect(attempts).toMatchObject([{ outcome: "failed", tenant: "acme" }, { runState: "dead" }])
  })

  it("and whose answer was lost is given back, executed once, and enqueued once", async () => {
    let executed = 0
    const job = defineJob({
      name: "once",
      run: async () => {
        executed += 1
        return "done"
      },
    })
    const kit = await createWatchedKit()
    onTestFinished(() => kit.close())
    await using app = await kit.app({ jobs: [job] })
    await app.drain()
    app.database.meddle("runs/insert", answerLost)
    const run = await app.enqueue(job)
    expect(run.created).toBe(true)
    await app.drain()
    expect(await run.result()).toBe("done")
    expect(executed).toBe(1)
    expect((await app.attempts(run.id)).map(({ outcome, charged }) => [outcome, charged])).toEqual([
      ["released", false],
      ["succeeded", true],
    ])
    expect(await rowsOf(app.database, "select from {runs}")).toEqual([])
  })

  it("in a process that runs by itself needs no claim and no wake-up", async () => {
    const job = defineJob({ name: "plain", run: async () => "done" })
    const { carillon, database } = carillonOn(inject("postgres18"), { jobs: [job] })
    onTestFinished(() => carillon.stop())
    await carillon.start()
    const looks = () => database.count("runs/look")
    let before = 0
    /** It has looked around more than once, and is not doing so now. */
    const isIdle = () => {
      const isSame = looks() === before
      before = looks()
      return isSame && before > 1
    }
    await vi.waitUntil(isIdle, { timeout: 20_000, interval: 200 })
    const run = await carillon.enqueue(job)
    expect(await run.result()).toBe("done")
    expect(database.count("runs/claim")).toBe(0)
    expect(database.count("wakeups/notify")).toBe(0)
  })
})
