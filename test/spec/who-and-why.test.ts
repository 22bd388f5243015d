/** Who made a change and why: both stand in the audit, whatever the call says about them. */
import { hostname, userInfo } from "node:os"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Bury, type ByWhom, defineJob } from "../../src/index.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const work = defineJob({ name: "work", run: () => {} })
const doomed = defineJob({ name: "doomed", run: () => Bury("no") })

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit()
})
afterAll(async () => {
  await kit.close()
})

/** Makes every change that there is, once. */
async function changeEverything(app: WatchedApp, by?: ByWhom): Promise<void> {
  const { schedules } = app
  const later = await app.enqueue(work, undefined, { delay: "1d" })
  const [replayed, discarded] = await app.enqueueMany(doomed, [{}, {}])
  await app.drain()
  await app.runs.expedite(later.id, by)
  await app.runs.cancel(later.id, by)
  await app.deadLetters.replay(replayed?.id ?? "", by)
  await app.deadLetters.discard(discarded?.id ?? "", by)
  await app.jobs.pause("work", by)
  await app.jobs.resume("work", by)
  await schedules.create({ name: "a", job: work, every: "1h" }, by)
  await schedules.put({ name: "a", job: work, every: "2h" }, by)
  await schedules.patch("a", { priority: 3 }, { version: 2, ...by })
  await schedules.pause("a", by)
  await schedules.resume("a", by)
  await schedules.skipNext("a", by)
  await schedules.runNow("a", by)
  const span = { from: new Date("2026-03-01T02:00Z"), to: new Date("2026-03-01T05:00Z") }
  await schedules.backfill("a", { ...span, ...by })
  await schedules.cancel("a", by)
  await schedules.delete("a", by)
}

const CHANGES = [
  ...["job.paused", "job.resumed", "run.cancel", "run.discard", "run.expedite", "run.replay"],
  ...["backfill", "cancel", "create", "delete", "patch", "pause", "put", "resume", "runNow", "skipNext"].map(
    (change) => `schedule.${change}`,
  ),
]

describe.each<[string, string | undefined, ByWhom | undefined, Required<ByWhom>]>([
  [
    "neither the call nor the options name an actor",
    undefined,
    undefined,
    { actor: `${userInfo().username}@${hostname()}:${process.pid}`, reason: "" },
  ],
  ["the options name an actor", "the night shift", undefined, { actor: "the night shift", reason: "" }],
  [
    "the call says why",
    "the night shift",
    { reason: "a test" },
    { actor: "the night shift", reason: "a test" },
  ],
  [
    "the call says who and why",
    "the night shift",
    { actor: "ada", reason: "a test" },
    { actor: "ada", reason: "a test" },
  ],
])("every change stands in the audit when %s,", (_, actor, by, expected) => {
  it("with its actor and its reason", async () => {
    await using app = await kit.app({ jobs: [work, doomed], ...(actor && { actor }) })
    await changeEverything(app, by)
    const rows = await rowsOf(
      app.database,
      "select action, actor, reason from {audit} where actor <> 'deploy' order by action",
    )
    expect(rows).toEqual(CHANGES.map((action) => ({ action, ...expected })))
  })
})
