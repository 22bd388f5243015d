/** A process can enqueue runs of a job that only other processes declare, by its name. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineJob, type StandardSchema } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const schema: StandardSchema<{ invoice: number }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof (value as { invoice?: number })?.invoice === "number"
        ? { value: value as { invoice: number } }
        : { issues: [{ message: "has no invoice" }] },
  },
}
const send = defineJob({
  name: "invoice.send",
  pool: "mail",
  priority: 7,
  history: "long",
  onLost: "bury",
  input: schema,
  run: ({ invoice }) => `sent ${invoice}`,
})
const sync = defineJob({ name: "account.sync", concurrency: 1, run: () => "synced" })
const jobs = [send, sync]
const pools = { mail: 1, default: 1 }

describeEngines("an enqueue by name", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? undefined : SERVER_URLS.postgres18)
  })
  afterAll(() => kit.close())

  /** A worker that declares the jobs, and a process beside it that declares none. */
  async function stage() {
    const worker = await kit.app({ jobs, pools })
    await worker.tick()
    if (engine.lacks.includes("connections")) return { worker, door: worker }
    return { worker, door: await kit.beside(worker) }
  }

  it.skipIf(engine.lacks.includes("connections"))("writes the same row as an enqueue by job", async () => {
    const { worker, door } = await stage()
    const options = { delay: "1h", tags: ["eu"], tenant: "acme" } as const
    await door.enqueue("invoice.send", { invoice: 1 }, options)
    await worker.enqueue(send, { invoice: 1 }, options)
    const { rows } = await door.query(
      `select to_jsonb(run) - 'id' - 'rank' as run from ${door.database.schema}.runs as run`,
    )
    expect(rows[0]).toEqual(rows[1])
    expect(rows[0]).toMatchObject({
      run: { history: "long", bury_when_lost: true, pool: "mail", priority: 7 },
    })
    await door.close()
    await worker.close()
  })

  it("waits for what the worker returns", async () => {
    const { worker, door } = await stage()
    const run = await door.enqueue("invoice.send", { invoice: 5 })
    await worker.drain()
    expect(await run.result()).toBe("sent 5")
    if (door !== worker) await door.close()
    await worker.close()
  })

  it("stands in line under the limit of the job", async () => {
    const { worker, door } = await stage()
    const runs = await door.enqueueMany("account.sync", [{}, { concurrencyKey: "acme" }])
    const keys = await door.query(`select key from ${worker.database.schema}.run_limits order by key`)
    expect(keys.rows).toEqual([{ key: "job:account.sync" }, { key: "job:account.sync acme" }])
    await worker.drain()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(["synced", "synced"])
    if (door !== worker) await door.close()
    await worker.close()
  })

  it("returns the holder of its key, whichever way that was enqueued", async () => {
    const { worker, door } = await stage()
    const first = await worker.enqueue(send, { invoice: 1 }, { key: "one" })
    expect(await door.enqueue("invoice.send", { invoice: 1 }, { key: "one" })).toMatchObject({
      id: first.id,
      created: false,
    })
    if (door !== worker) await door.close()
    await worker.close()
  })

  it("of a name that no process has declared is refused with a suggestion", async () => {
    const { worker, door } = await stage()
    await expect(door.enqueue("invoice.sned", { invoice: 1 })).rejects.toMatchObject({
      code: "JOB_UNKNOWN",
      message: 'There is no job named "invoice.sned". Did you mean "invoice.send"?',
    })
    await expect(door.enqueueMany("billing", [{}])).rejects.toMatchObject({ code: "JOB_UNKNOWN" })
    await expect(door.enqueue("no name!", {})).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
    if (door !== worker) await door.close()
    await worker.close()
  })

  it("refuses options and inputs as an enqueue by job does", async () => {
    const { worker, door } = await stage()
    await expect(door.enqueue("invoice.send", {}, { concurrencyKey: "acme" })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "concurrencyKey" }],
    })
    await expect(door.enqueue("invoice.send", 1n)).rejects.toMatchObject({ code: "PAYLOAD_INVALID" })
    await expect(door.enqueueMany("invoice.send", [{}, { concurrencyKey: "acme" }])).rejects.toMatchObject({
      faults: [{ path: "items[1].concurrencyKey" }],
    })
    // Here is the schema.
    await expect(worker.enqueue("invoice.send", {})).rejects.toMatchObject({ code: "INPUT_INVALID" })
    if (door !== worker) await door.close()
    await worker.close()
  })

  it("reads the settings through the transaction that it is given", async () => {
    const worker = await kit.app({ jobs, pools })
    await worker.tick()
    const door = engine.lacks.includes("connections") ? worker : await kit.beside(worker)
    await door
      .transaction(async (tx) => {
        await door.enqueue("account.sync", undefined, { tx })
        throw new Error("rolled back")
      })
      .catch(() => {})
    expect(await door.runs.count()).toMatchObject({ count: 0 })
    await door.transaction((tx) => door.enqueue("account.sync", undefined, { tx }))
    expect(await door.runs.count()).toMatchObject({ count: 1 })
    if (door !== worker) await door.close()
    await worker.close()
  })

  it.skipIf(engine.lacks.includes("connections"))(
    "reads the settings once a second, not for every call",
    async () => {
      const { worker, door } = await stage()
      for (let count = 0; count < 5; count += 1) await door.enqueue("invoice.send", { invoice: count })
      expect(door.database.count("jobs/find")).toBe(1)
      await door.close()
      await worker.close()
    },
  )
})
