/** Roles: a process makes runs of schedules, executes runs, or both. Others do what it leaves. */
import { describe, expect, it, onTestFinished } from "vitest"
import { defineJob, defineSchedule } from "../../src/index.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn } from "../support/watched-app.ts"

const job = defineJob({ name: "report", run: async () => "done" })
const everySecond = defineSchedule({ name: "often", job, every: "1s" })

function processWith(roles: ("worker" | "scheduler")[] | undefined, schema?: string) {
  const made = carillonOn(SERVER_URLS.postgres18, {
    jobs: [job],
    schedules: [everySecond],
    ...(roles && { roles }),
    ...(schema !== undefined && { schema }),
  })
  onTestFinished(() => made.carillon.stop())
  return made
}

/** Resolves with the first event of this type. */
function firstEvent(carillon: ReturnType<typeof processWith>["carillon"], type: string): Promise<unknown> {
  return new Promise((resolve) => {
    const end = carillon.subscribe((event) => {
      if (event.type !== type) return
      end()
      resolve(event)
    })
  })
}

describe("a process with roles", () => {
  it("that is only a scheduler makes runs, serves no pool, and knows no job for others", async () => {
    const { carillon, database } = processWith(["scheduler"])
    const started = firstEvent(carillon, "worker.started")
    await carillon.start()
    expect(await started).toMatchObject({ pools: [] })
    const [row] = await rowsOf(database, "select pools, jobs from {workers}")
    expect(row).toEqual({ pools: [], jobs: [] })
    await expect.poll(() => carillon.runs.count().then(({ count }) => count)).toBeGreaterThan(0)
    expect((await carillon.runs.list()).items[0]).toMatchObject({ job: "report", state: "ready" })
    expect(database.count("runs/claim")).toBe(0)
  })

  it("that is only a worker executes what a scheduler makes, and makes nothing itself", async () => {
    const scheduler = processWith(["scheduler"])
    const worker = processWith(["worker"], scheduler.database.schema)
    const finished = firstEvent(worker.carillon, "attempt.finished")
    await worker.carillon.start()
    await scheduler.carillon.start()
    expect(await finished).toMatchObject({ job: "report", outcome: "succeeded" })
    expect(worker.database.count("schedules/next-due")).toBe(0)
    expect(worker.database.count("schedules/due")).toBe(0)
  })

  it("refuses a role that does not exist", () => {
    expect(() => processWith(["workr"] as never)).toThrow(/roles\[0\].*did you mean "worker"/)
  })
})
