/** Foreign input: a notification that is a lie, and a row that no version of Carillon has written. */
import { createHash } from "node:crypto"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { parseMessage } from "../../src/engine/process/wakeup-message.ts"
import { defineJob } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { carillonOn, createWatchedKit } from "../support/watched-app.ts"

describe("a foreign notification", () => {
  it("about an impossible priority is ignored", () => {
    expect(parseMessage("ready any 2147483647 0 default")).toBeDefined()
    expect(parseMessage("ready any 2147483648 0 default")).toBeUndefined()
    expect(parseMessage("ready any -9999999999 0 default")).toBeUndefined()
  })

  it("about a cancel that did not happen cancels nothing", async () => {
    const gate = createGate()
    onTestFinished(gate.open)
    const job = defineJob({ name: "patient", run: () => gate.opened.then(() => "done") })
    const { carillon, database } = carillonOn(SERVER_URLS.postgres18, { jobs: [job] })
    onTestFinished(() => carillon.stop())
    await carillon.start()
    const started = new Promise<void>((resolve) => {
      carillon.subscribe(({ type }) => {
        if (type === "attempt.started") resolve()
      })
    })
    const run = await carillon.enqueue(job)
    await started
    const looks = () => database.count("runs/find-cancelled")
    const before = looks()
    const hash = createHash("sha256").update(database.schema).digest("hex").slice(0, 32)
    await rowsOf(database, `select pg_notify('carillon_${hash}', 'cancelled ${run.id}') as told`)
    // Carillon looks the cancel up, and finds none.
    await vi.waitUntil(() => looks() > before, { timeout: 10_000 })
    gate.open()
    expect(await run.result()).toBe("done")
  })
})

describe("a row that was edited by hand", () => {
  it.each([
    ["a retry policy that is none", `retry = '{"delays":3}'`],
    ["more claims than can be counted", "claims = 2147483647"],
    ["more attempts than can be counted", "attempt = 2147483647"],
  ])("has %s, and holds up no other run", async (_, edit) => {
    const job = defineJob({ name: "any", run: async (n: number) => n })
    const kit = await createWatchedKit()
    onTestFinished(() => kit.close())
    await using app = await kit.app({ jobs: [job] })
    const [odd] = await app.enqueueMany(job, [{ input: 0 }])
    await execute(app.database, `update {runs} set ${edit} where id = '${odd?.id}'`)
    const others = await app.enqueueMany(job, [{ input: 1 }, { input: 2 }])
    await app.drain()
    expect(await Promise.all(others.map((run) => run.result()))).toEqual([1, 2])
    const later = await app.enqueue(job, 3)
    await app.drain()
    expect(await later.result()).toBe(3)
  })
})
