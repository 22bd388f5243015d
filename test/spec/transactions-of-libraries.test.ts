/** What Carillon writes in a transaction of a library that people use commits and rolls back with it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { installedLibraries, LIBRARIES, type Library } from "../support/libraries.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { rowsOf } from "../support/sql.ts"
import { carillonOn, type OwnCarillon } from "../support/watched-app.ts"

const openers = await installedLibraries()
const job = defineJob({ name: "book", concurrency: 2, run: async (input: unknown) => input })
const plain = defineJob({ name: "plain", run: async (input: unknown) => input })
/** What drivers and array literals are likely to get wrong. */
const INPUT = { text: 'O\'Brien \\ "NULL" {a,b} ? $1 :name 🦀', number: 1.5, none: null, list: [1, "two"] }
const by = { actor: "ada", reason: "O'Brien asked" }

describe.skipIf(openers === undefined).each(LIBRARIES)("a transaction of %s", (name) => {
  let library: Library
  let own: OwnCarillon
  beforeAll(async () => {
    library = (await openers?.[name](SERVER_URLS.postgres18)) as Library
    own = carillonOn(SERVER_URLS.postgres18, { jobs: [job, plain] })
    await own.carillon.migrate()
  })
  afterAll(async () => {
    await library?.close()
    await own?.carillon.stop()
  })

  const ids = async () =>
    (await rowsOf(own.database, "select id from {runs} order by id")).map(({ id }) => id)
  const rolledBack = (body: (tx: never) => Promise<unknown>) =>
    expect(
      library.transaction(async (tx) => {
        await body(tx)
        throw new Error("no")
      }),
    ).rejects.toThrow("no")

  it("holds the runs that are enqueued in it, and they commit and roll back with it", async () => {
    const { carillon } = own
    const before = await ids()
    const made: string[] = []
    const enqueueAll = async (tx: never) => {
      made.push((await carillon.enqueue(plain, INPUT, { tx })).id)
      made.push((await carillon.enqueue(job, INPUT, { tx, concurrencyKey: "acme", key: `k-${name}` })).id)
      const again = await carillon.enqueue(job, 1, { tx, key: `k-${name}` })
      expect(again).toMatchObject({ id: made.at(-1), created: false })
      const options = { tags: ["NULL", "a,b"], priority: 3, delay: "1h", retry: { attempts: 2 } } as const
      const items = [{ input: INPUT, ...options }, { input: 2 }, { input: 3, tenant: "acme" }]
      made.push(...(await carillon.enqueueMany(plain, items, { tx })).map(({ id }) => id))
      await library.query(tx, "select 1")
      expect(await ids()).toEqual(before)
    }
    await rolledBack(enqueueAll)
    expect(await ids()).toEqual(before)
    made.length = 0
    await library.transaction(enqueueAll)
    expect((await ids()).sort()).toEqual([...before, ...made].sort())
    const [first = "", , third = ""] = made
    expect(await carillon.runs.get(first)).toMatchObject({ input: INPUT, state: "ready" })
    expect(await carillon.runs.get(third)).toMatchObject({
      tags: ["NULL", "a,b"],
      priority: 3,
      state: "waiting",
    })
  })

  it("holds a cancel and the changes of schedules, and they commit and roll back with it", async () => {
    const { carillon } = own
    const { id } = await carillon.enqueue(plain, 1, { delay: "1h" })
    const schedule = { name: "nightly", cron: "0 3 * * *", job: plain, input: INPUT } as const
    const state = async () => (await carillon.schedules.get("nightly"))?.state
    const changeAll = async (tx: never) => {
      expect(await carillon.runs.cancel(id, { tx, ...by })).toEqual({ changed: true, state: "cancelled" })
      expect(await carillon.schedules.put(schedule, { tx, ...by })).toMatchObject({ outcome: "created" })
      expect(await carillon.schedules.pause("nightly", { tx, ...by })).toBe(true)
      expect(await carillon.schedules.runNow("nightly", { tx, ...by })).toMatchObject({
        run: expect.any(String),
      })
      // A refusal leaves the transaction as it was.
      await expect(carillon.schedules.pause("gone", { tx, ...by })).rejects.toMatchObject({
        code: "SCHEDULE_NOT_FOUND",
      })
      expect(await carillon.schedules.resume("nightly", { tx, ...by })).toBe(true)
      const { schedule: stored } = await carillon.schedules.put(schedule, { tx, ...by })
      const { version } = stored
      await carillon.schedules.patch("nightly", { cron: "0 4 * * *" }, { tx, version, ...by })
      expect(await carillon.schedules.delete("nightly", { tx, ...by })).toBe(true)
      await carillon.schedules.create(schedule, { tx, ...by })
      expect(await carillon.schedules.cancel("nightly", { tx, ...by })).toBe(true)
    }
    await rolledBack(changeAll)
    expect(await state()).toBeUndefined()
    expect(await carillon.runs.get(id)).toMatchObject({ state: "waiting" })
    await library.transaction(changeAll)
    expect(await state()).toBe("cancelled")
    expect(await carillon.runs.get(id)).toMatchObject({ state: "cancelled" })
    expect((await carillon.audit.list({ limit: 3 })).items[0]).toMatchObject(by)
    await carillon.schedules.delete("nightly")
  })

  it("that has not begun is refused, and nothing is written", async () => {
    const before = await ids()
    await expect(own.carillon.enqueue(plain, 1, { tx: library.root as never })).rejects.toMatchObject({
      code: expect.stringMatching(/^(TX_NOT_OPEN|OPTIONS_INVALID)$/),
    })
    expect(await ids()).toEqual(before)
  })

  it("that has failed is refused by that name", async () => {
    const failing = library.transaction(async (tx) => {
      await library.query(tx, "select 1 / 0").catch(() => {})
      await own.carillon.enqueue(plain, 1, { tx })
    })
    await expect(failing).rejects.toMatchObject({ code: "TX_FAILED" })
  })

  it("keeps its own settings, however odd, and what is written does not depend on them", async () => {
    const odd = {
      search_path: "carillon_trap, pg_catalog",
      array_nulls: "off",
      datestyle: "German, DMY",
      timezone: "Asia/Kathmandu",
      standard_conforming_strings: "off",
    }
    const made: string[] = []
    await library.transaction(async (tx) => {
      for (const sql of TRAP) await library.query(tx, sql)
      for (const [setting, value] of Object.entries(odd))
        await library.query(tx, `set local ${setting} = ${setting === "search_path" ? value : `'${value}'`}`)
      const items = [{ input: INPUT }, { input: 2, priority: 3, tenant: "acme", delay: "1h" as const }]
      made.push(...(await own.carillon.enqueueMany(plain, items, { tx })).map(({ id }) => id))
      made.push((await own.carillon.enqueue(job, 1, { tx, key: "odd" })).id)
      await own.carillon.schedules.put({ name: "odd", every: "1h", job: plain }, { tx })
      await own.carillon.schedules.pause("odd", { tx, until: new Date("2050-01-02T03:04:05Z") })
      for (const [setting, value] of Object.entries(odd))
        await library.query(
          tx,
          `select 1 / (case when current_setting('${setting}') = '${value}' then 1 else 0 end)`,
        )
      await library.query(tx, "drop schema carillon_trap cascade")
    })
    expect(await own.carillon.runs.get(made[1] ?? "")).toMatchObject({
      priority: 3,
      tenant: "acme",
      state: "waiting",
    })
    expect(await own.carillon.runs.get(made[2] ?? "")).toMatchObject({ state: "parked", key: "odd" })
    const [schedule] = (await own.carillon.schedules.list()).schedules
    expect(schedule).toMatchObject({ name: "odd", state: "paused" })
    await own.carillon.schedules.delete("odd")
  })
})

/** A function and an operator that Carillon's statements use, found before those of PostgreSQL. */
const TRAP = [
  "create schema carillon_trap",
  "create function carillon_trap.date_part(text, timestamptz) returns float8 language sql as 'select 1 / 0.0'",
  "create function carillon_trap.differs(uuid, uuid) returns boolean language sql as 'select false'",
  "create operator carillon_trap.= (leftarg = uuid, rightarg = uuid, function = carillon_trap.differs)",
]
