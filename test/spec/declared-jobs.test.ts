/** What a process does with its declared jobs when it starts. */
import { describe, expect, it } from "vitest"
import { createReconciler } from "../../src/engine/schedules/reconciler.ts"
import { DatabaseError } from "../../src/errors.ts"
import { type AnyJob, defineJob, type JobSettings } from "../../src/index.ts"
import { createEvents } from "../../src/observe/create-events.ts"
import type { CarillonEvent } from "../../src/observe/events.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import type { Database } from "../../src/store/database.ts"
import { createTestKit } from "../../src/testing/index.ts"
import { describeEngines } from "../support/engines.ts"
import { linesOf } from "../support/log-lines.ts"
import { openStage } from "../support/parking.ts"
import { rowsOf } from "../support/sql.ts"

const { signal } = new AbortController()

/** One start of a process with these jobs. */
function startOf(runtime: Runtime, jobs: readonly AnyJob[], version?: string) {
  const told: CarillonEvent[] = []
  const events = createEvents((error) => {
    throw error
  })
  events.subscribe((event) => {
    told.push(event)
  })
  const byName = new Map(jobs.map((job) => [job.name, job]))
  return { reconciler: createReconciler({ runtime, events, jobs: byName, version }), told }
}

const job = (settings: JobSettings): AnyJob => defineJob({ ...settings, run: async () => {} })

describeEngines("a process that starts", (engine) => {
  it("declares its jobs, and reports new ones and changes, field by field", async () => {
    const { runtime, database } = await openStage(engine)
    const first = startOf(runtime, [job({ name: "greet" }), job({ name: "mail", retry: { attempts: 5 } })])
    await first.reconciler.tick(signal)
    expect(first.told).toEqual([
      { type: "job.declared", job: "greet" },
      { type: "job.declared", job: "mail" },
    ])
    expect(await rowsOf(database, "select name from {jobs} order by name")).toHaveLength(2)

    const mail = { name: "mail", pool: "slow", retry: { attempts: 3 } }
    const second = startOf(runtime, [job({ name: "greet" }), job(mail)], "1.0")
    await second.reconciler.tick(signal)
    const changes = [
      { field: "pool", before: "default", after: "slow" },
      { field: "retry.attempts", before: 5, after: 3 },
    ]
    expect(second.told).toEqual([{ type: "job.changed", job: "mail", changes }])
  })

  it("reports that a later version declared a job differently, and leaves that as it is", async () => {
    const { runtime, database } = await openStage(engine)
    await startOf(
      runtime,
      [job({ name: "greet", pool: "new" }), job({ name: "same" })],
      "1.10",
    ).reconciler.tick(signal)
    const old = startOf(runtime, [job({ name: "greet", pool: "old" }), job({ name: "same" })], "1.9")
    await old.reconciler.tick(signal)
    expect(old.told).toEqual([{ type: "job.outdated", job: "greet", declared: "1.9", stored: "1.10" }])
    const [row] = await rowsOf(
      database,
      "select settings ->> 'pool' as pool from {jobs} where name = 'greet'",
    )
    expect(row).toEqual({ pool: "new" })
  })

  it("with other settings under the same version wins, and that is reported", async () => {
    const { runtime } = await openStage(engine)
    await startOf(runtime, [job({ name: "greet", pool: "a" })], "1").reconciler.tick(signal)
    const later = startOf(runtime, [job({ name: "greet", pool: "b" })], "1")
    await later.reconciler.tick(signal)
    expect(later.told).toEqual([
      { type: "job.changed", job: "greet", changes: [{ field: "pool", before: "a", after: "b" }] },
    ])
  })

  it("with unchanged jobs reports nothing", async () => {
    const { runtime } = await openStage(engine)
    for (const version of [undefined, undefined, "1", "1", "2"]) {
      const start = startOf(runtime, [job({ name: "greet", retry: { after: () => 1 } })], version)
      await start.reconciler.tick(signal)
      expect(start.told.filter(({ type }) => type !== "job.declared")).toEqual([])
    }
  })

  it("without jobs sends nothing to the database, and with jobs only until the answer has come", async () => {
    const { runtime } = await openStage(engine)
    let asked = 0
    const transaction: Database["transaction"] = (body, options) => {
      asked += 1
      return runtime.database.transaction(body, options)
    }
    const counted = { ...runtime, database: { ...runtime.database, transaction } }
    await startOf(counted, []).reconciler.tick(signal)
    expect(asked).toBe(0)
    const { reconciler } = startOf(counted, [job({ name: "greet" })])
    for (const _ of [1, 2, 3]) await reconciler.tick(signal)
    expect(asked).toBe(1)
  })

  it("while the database is away tries again, and reports that once", async () => {
    const { runtime } = await openStage(engine)
    let failures = 2
    const transaction: Database["transaction"] = async (body, options) => {
      if (failures === 0) return runtime.database.transaction(body, options)
      failures -= 1
      throw new DatabaseError("DATABASE_UNAVAILABLE", "away")
    }
    const start = startOf({ ...runtime, database: { ...runtime.database, transaction } }, [
      job({ name: "greet" }),
    ])
    for (const _ of [1, 2]) await expect(start.reconciler.tick(signal)).rejects.toThrow("away")
    for (const _ of [1, 2]) await start.reconciler.tick(signal)
    expect(start.told).toEqual([{ type: "job.declared", job: "greet" }])
  })
})

describe("the log", () => {
  it("says about declared jobs what operators want to know", () => {
    const changes = [
      { field: "pool", before: "default", after: "slow" },
      { field: "timeoutMs", before: null, after: 500 },
    ]
    const events: CarillonEvent[] = [
      { type: "job.declared", job: "mail" },
      { type: "job.changed", job: "mail", changes },
      { type: "job.outdated", job: "mail", declared: "1.9", stored: "1.10" },
      { type: "job.outdated", job: "mail", declared: null, stored: "1.10" },
    ]
    const lines = linesOf(events)
    expect(lines).toEqual([
      "debug: mail declared",
      'info: mail changed: pool from "default" to "slow", timeoutMs from null to 500',
      "info: mail stays as version 1.10 declares it; this process is of version 1.9",
      "info: mail stays as version 1.10 declares it; this process is of no version",
    ])
  })
})

it("an application declares its jobs when it starts, and not again when it is restarted", async () => {
  await using kit = await createTestKit()
  await using app = await kit.app({ jobs: [job({ name: "greet" }), job({ name: "mail" })], version: "1.0" })
  for (const _ of [1, 2]) {
    await app.start()
    await app.until("job.declared", (event) => event.job === "mail")
    await app.drain()
    await app.restart()
  }
  expect(app.events.filter(({ type }) => type.startsWith("job."))).toHaveLength(2)
})
