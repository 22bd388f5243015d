/** Idempotency keys, held while their run lives or for a time: the second enqueue gets the first run. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Bury, createCarillon, defineJob, Snooze } from "../../src/index.ts"
import { createSystemHost } from "../../src/runtime/system.ts"
import { forgetKeys } from "../../src/store/keys/forget.ts"
import { newSchema } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, SILENT, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

describe("a key", () => {
  const plain = defineJob({ name: "plain", run: async (name: string) => name })
  const other = defineJob({ name: "other", run: async (name: string) => name })
  const parked = defineJob({ name: "parked", concurrency: 1, run: async () => {} })
  const unlucky = defineJob({
    name: "unlucky",
    retry: { attempts: 2, delay: "1m" },
    run: async () => Promise.reject(new Error("no")),
  })
  const hopeless = defineJob({ name: "hopeless", run: async () => Bury("no hope") })
  const sleepy = defineJob({ name: "sleepy", run: async () => Snooze("1h") })

  let kit: WatchedKit
  let app: WatchedApp
  beforeAll(async () => {
    kit = await createWatchedKit()
    app = await kit.app({ jobs: [plain, other, parked, unlucky, hopeless, sleepy] })
  })
  afterAll(async () => {
    await app.close()
    await kit.close()
  })

  it("makes one run of two enqueues: the second gets the first run, and changes nothing of it", async () => {
    const first = await app.enqueue(plain, "first", { key: "one", delay: "1h" })
    const second = await app.enqueue(plain, "second", { key: "one", priority: 9, delay: 0 })
    expect(first.created).toBe(true)
    expect({ id: second.id, created: second.created }).toEqual({ id: first.id, created: false })
    expect(await app.runs.get(first.id)).toMatchObject({
      input: "first",
      priority: 0,
      state: "waiting",
      key: "one",
    })
    expect(
      app.events.filter((event) => event.type === "run.enqueued" && event.run === first.id),
    ).toHaveLength(1)
    await app.clock.advance("1h")
    expect(await second.result()).toBe("first")
  })

  it("counts for one job and one tenant", async () => {
    const runs = [
      await app.enqueue(plain, "", { key: "shared" }),
      await app.enqueue(other, "", { key: "shared" }),
      await app.enqueue(plain, "", { key: "shared", tenant: "a" }),
      await app.enqueue(plain, "", { key: "shared", tenant: "b" }),
      await app.enqueue(plain, "", { key: "shared", tenant: "b" }),
    ]
    expect(runs.map(({ created }) => created)).toEqual([true, true, true, true, false])
    expect(runs[4]?.id).toBe(runs[3]?.id)
  })

  it("may be any text", async () => {
    for (const key of ["' or true --", "ü 🎉", "{run}", "a\nb", "x".repeat(500), " "]) {
      const first = await app.enqueue(plain, "", { key })
      expect(await app.enqueue(plain, "", { key })).toMatchObject({ id: first.id, created: false })
    }
  })

  it("is free again after a success", async () => {
    const first = await app.enqueue(plain, "first", { key: "success", keyFor: "live" })
    await app.drain()
    const second = await app.enqueue(plain, "second", { key: "success", keyFor: "live" })
    expect(second.created).toBe(true)
    expect(second.id).not.toBe(first.id)
  })

  it("is held between attempts, and free after the last", async () => {
    const first = await app.enqueue(unlucky, undefined, { key: "unlucky", keyFor: "live" })
    await app.drain()
    expect(await app.enqueue(unlucky, undefined, { key: "unlucky", keyFor: "live" })).toMatchObject({
      id: first.id,
      created: false,
    })
    await app.clock.advance("1m")
    await expect(first.result()).rejects.toMatchObject({ code: "RUN_DEAD" })
    expect(await app.enqueue(unlucky, undefined, { key: "unlucky", keyFor: "live" })).toMatchObject({
      created: true,
    })
  })

  it("is free again after a burial, and held through a snooze", async () => {
    await app.enqueue(hopeless, undefined, { key: "k", keyFor: "live" })
    const asleep = await app.enqueue(sleepy, undefined, { key: "k", keyFor: "live" })
    await app.drain()
    expect(await app.enqueue(hopeless, undefined, { key: "k", keyFor: "live" })).toMatchObject({
      created: true,
    })
    expect(await app.enqueue(sleepy, undefined, { key: "k", keyFor: "live" })).toMatchObject({
      id: asleep.id,
      created: false,
    })
  })

  it.each(["waiting", "ready", "parked"] as const)(
    "is free again after a cancel of a %s run",
    async (state) => {
      const job = state === "parked" ? parked : plain
      const key = `cancelled ${state}`
      await app.enqueue(parked)
      const first = await app.enqueue(job as typeof plain, "", {
        key,
        keyFor: "live",
        ...(state === "waiting" && { delay: "1h" }),
      })
      expect(await app.runs.get(first.id)).toMatchObject({ state })
      await app.runs.cancel(first.id, by)
      expect(await app.enqueue(job as typeof plain, "", { key, delay: "1h" })).toMatchObject({
        created: true,
      })
    },
  )

  it("is free again when its run has expired", async () => {
    const first = await app.enqueue(plain, "", { key: "late", keyFor: "live", startWithin: "1m" })
    await app.clock.set(new Date(+(await app.clock.now()) + 61_000))
    await app.drain()
    await expect(first.result()).rejects.toMatchObject({ code: "RUN_EXPIRED" })
    expect(await app.enqueue(plain, "", { key: "late", keyFor: "live" })).toMatchObject({ created: true })
  })

  it("with a time is held that long, whatever happens to the run, and no longer", async () => {
    const first = await app.enqueue(plain, "first", { key: "timed", keyFor: "1h" })
    await app.drain()
    expect(await first.result()).toBe("first")
    await app.clock.advance("59m")
    const second = await app.enqueue(plain, "second", { key: "timed" })
    expect(second).toMatchObject({ id: first.id, created: false })
    expect(await second.result()).toBe("first")
    await app.clock.advance("1m")
    expect(await app.enqueue(plain, "third", { key: "timed" })).toMatchObject({ created: true })
  })

  it("with a time is held also when the run was cancelled", async () => {
    const first = await app.enqueue(plain, "", { key: "timed cancel", keyFor: "1h", delay: "10m" })
    await app.runs.cancel(first.id, by)
    expect(await app.enqueue(plain, "", { key: "timed cancel" })).toMatchObject({
      id: first.id,
      created: false,
    })
  })

  it("whose time is over belongs to the next run: the end of the first does not free it", async () => {
    const first = await app.enqueue(plain, "first", { key: "inherited", keyFor: "1m", delay: "2m" })
    await app.clock.advance("1m")
    const second = await app.enqueue(plain, "second", { key: "inherited", delay: "1h" })
    expect(second).toMatchObject({ created: true })
    await app.clock.advance("1m")
    expect(await first.result()).toBe("first")
    expect(await app.enqueue(plain, "third", { key: "inherited" })).toMatchObject({
      id: second.id,
      created: false,
    })
  })

  it("leaves no row behind after its time: upkeep removes keys that no new run took", async () => {
    await using alone = await kit.app({ jobs: [plain] })
    const items = Array.from({ length: 30 }, (_, index) => ({
      input: "",
      key: `k${index}`,
      keyFor: "live" as const,
    }))
    await alone.enqueueMany(plain, items)
    await alone.drain()
    expect(await alone.database.run(forgetKeys, { limit: 100 })).toEqual([{ forgotten: 30 }])
    expect(await rowsOf(alone.database, "select from {keys}")).toEqual([])
  })
})

describe("a key under concurrent enqueues", () => {
  it("makes one run, and every caller gets it", async () => {
    const job = defineJob({ name: "wanted", run: async () => {} })
    const address = {
      database: SERVER_URLS.postgres18,
      schema: newSchema(createSystemHost()),
      logger: SILENT,
    }
    await using one = createCarillon(address)
    await using two = createCarillon(address)
    await one.migrate()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? one : two).enqueue(job, undefined, { key: "same" }),
      ),
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
  })

  it("always gets a run that exists, also while runs come and go", async () => {
    let executed = 0
    const job = defineJob({
      name: "fleeting",
      run: async () => {
        executed += 1
      },
    })
    const address = {
      database: SERVER_URLS.postgres18,
      schema: newSchema(createSystemHost()),
      logger: SILENT,
    }
    await using worker = createCarillon({ ...address, jobs: [job] })
    await using client = createCarillon(address)
    await worker.start()
    const answers = []
    for (let round = 0; round < 15; round += 1) {
      const some = [1, 2, 3, 4, 5, 6].map(() =>
        client.enqueue(job, undefined, { key: "same", keyFor: "live" }),
      )
      answers.push(...(await Promise.all(some)))
    }
    await Promise.all(answers.map((run) => worker.runs.wait(run.id)))
    const created = answers.filter((run) => run.created)
    expect(executed).toBe(created.length)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(created.length)
  })
})
