/** A key without a time: it makes one run for as long as history knows that run. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Bury, defineJob, type EnqueueOptions } from "../../src/index.ts"
import { dropExpired } from "../../src/store/attempts/retention.ts"
import { forgetKeys } from "../../src/store/keys/forget.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

const by = { actor: "a test", reason: "to see" }

const fine = defineJob({ name: "fine", run: async (name: string) => name })
const brief = defineJob({ name: "brief", history: "short", run: async (name: string) => name })
const long = defineJob({ name: "long", history: "long", run: async (name: string) => name })
const hopeless = defineJob({ name: "hopeless", run: async (_: string) => Bury("no hope") })
const parked = defineJob({ name: "parked", concurrency: 1, run: async (name: string) => name })

describe("a key without a time", () => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit()
  })
  afterAll(() => kit.close())

  async function given() {
    const app = await kit.app({ jobs: [fine, brief, long, hopeless, parked] })
    const ask = (job = fine, options: EnqueueOptions = {}) =>
      app.enqueue(job, "", { key: "order:7", ...options })
    return { app, ask, [Symbol.asyncDispose]: () => app.close() }
  }

  async function expectTaken(app: WatchedApp, run: { readonly id: string }, job = fine) {
    const again = await app.enqueue(job, "", { key: "order:7" })
    expect({ id: again.id, created: again.created }).toEqual({ id: run.id, created: false })
  }

  it("makes one run, and later enqueues get its result after its end", async () => {
    await using stage = await given()
    const { app } = stage
    const first = await app.enqueue(fine, "shipped", { key: "order:7" })
    await app.drain()
    expect(await first.result()).toBe("shipped")
    const second = await app.enqueue(fine, "shipped again", { key: "order:7" })
    expect({ id: second.id, created: second.created }).toEqual({ id: first.id, created: false })
    expect(await second.result()).toBe("shipped")
  })

  it.each([
    ["short", brief, "23h", "25h"],
    ["standard", fine, "7d", "1d"],
    ["long", long, "90d", "1d"],
  ] as const)(
    "is held for as long as the class %s keeps history, and no longer",
    async (_, job, kept, rest) => {
      await using stage = await given()
      const { app, ask } = stage
      const first = await ask(job)
      await app.drain()
      await app.clock.advance(kept)
      await expectTaken(app, first, job)
      await app.clock.advance(rest)
      expect(await ask(job)).toMatchObject({ created: true })
    },
  )

  it("is held whenever history knows the run", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask()
    await app.drain()
    for (let days = 0; days < 10; days += 1) {
      await dropExpired(app.database)
      await app.database.run(forgetKeys, { limit: 100 })
      const isKnown = (await app.runs.attempts(first.id)).length > 0
      const [held] = await rowsOf(app.database, "select run from {keys} where expires_at > {schema}.now()")
      if (isKnown) expect(held).toEqual({ run: first.id })
      await app.clock.set(new Date(+(await app.clock.now()) + 86_400_000))
    }
    expect(await app.runs.attempts(first.id)).toEqual([])
    expect(await rowsOf(app.database, "select from {keys}")).toEqual([])
  })

  it("counts from the end of the run, however long that waited", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(fine, { delay: "30d" })
    await app.clock.advance("30d")
    expect(await first.result()).toBe("")
    await app.clock.advance("7d")
    await expectTaken(app, first)
  })

  it("is not free after a cancel", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(fine, { delay: "1h" })
    await app.runs.cancel(first.id, by)
    await app.clock.advance("7d")
    await expectTaken(app, first)
    await app.clock.advance("1d")
    expect(await ask()).toMatchObject({ created: true })
  })

  it("is not free after an expiry, nor after the cancel of a parked run", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const late = await ask(fine, { startWithin: "1m" })
    await app.clock.set(new Date(+(await app.clock.now()) + 61_000))
    await app.drain()
    await expect(late.result()).rejects.toMatchObject({ code: "RUN_EXPIRED" })
    await expectTaken(app, late)
    await app.enqueue(parked, "")
    const inLine = await ask(parked)
    await app.runs.cancel(inLine.id, by)
    await expectTaken(app, inLine, parked)
  })

  it("is held by a dead letter for as long as that exists, and through its replay", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(hopeless)
    await app.drain()
    await app.clock.advance("400d")
    await expectTaken(app, first, hopeless)
    await app.deadLetters.replay(first.id, by)
    expect(await app.runs.get(first.id)).toMatchObject({ key: "order:7", generation: 2 })
    await expectTaken(app, first, hopeless)
    await app.drain()
    await app.clock.advance("400d")
    await expectTaken(app, first, hopeless)
  })

  it("is remembered from the moment its dead letter is discarded", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(hopeless)
    await app.drain()
    await app.clock.advance("400d")
    await app.deadLetters.discard(first.id, by)
    await app.clock.advance("7d")
    await expectTaken(app, first, hopeless)
    await app.clock.advance("1d")
    expect(await ask(hopeless)).toMatchObject({ created: true })
  })

  it("that was freed by the death of its run does not return to it at a replay", async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(hopeless, { keyFor: "live" })
    await app.drain()
    const second = await ask(hopeless, { delay: "1h" })
    await app.deadLetters.replay(first.id, by)
    expect((await app.runs.get(first.id))?.key).toBeUndefined()
    await app.drain()
    await expectTaken(app, second, hopeless)
  })

  it('with `keyFor: "forever"` never makes another run', async () => {
    await using stage = await given()
    const { app, ask } = stage
    const first = await ask(fine, { keyFor: "forever" })
    await app.drain()
    await app.clock.advance("36500d")
    await app.database.run(forgetKeys, { limit: 100 })
    await expectTaken(app, first)
  })

  it.each([["for ever"], ["live "], [0], [-1], [null]])("refuses keyFor: %j", async (keyFor) => {
    await using stage = await given()
    await expect(stage.ask(fine, { keyFor } as unknown as EnqueueOptions)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      faults: [{ path: "keyFor" }],
    })
  })
})
