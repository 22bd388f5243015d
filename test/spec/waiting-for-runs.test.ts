/** `runs.wait` returns runs as they ended, one or many, wherever they execute, and asks about all of them at once. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineJob } from "../../src/index.ts"
import { createGate } from "../support/gate-opened-by-test.ts"
import { SERVER_URLS } from "../support/server-urls.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const NOBODY = "01900000-0000-7000-8000-000000000000"
const by = { actor: "ada", reason: "a test" }

let kit: WatchedKit
beforeAll(async () => {
  kit = await createWatchedKit(SERVER_URLS.postgres18)
})
afterAll(() => kit.close())

async function stage() {
  const gate = createGate()
  const fine = defineJob({
    name: "fine",
    run: async (input: number, ctx) => {
      ctx.log("at work", { input })
      return input * 2
    },
  })
  const broken = defineJob({
    name: "broken",
    retry: { attempts: 2, base: 0 },
    run: async (_: undefined, ctx) => {
      ctx.log(`attempt ${ctx.attempt}`)
      throw new Error("no")
    },
  })
  const held = defineJob({ name: "held", run: () => gate.opened })
  const app = await kit.app({ jobs: [fine, broken, held], at: "2026-03-01T09:00Z", lease: "1d" })
  return { app, fine, broken, held, gate }
}

it("a wait returns the runs in the order of their ids, whatever became of them", async () => {
  const { app, fine, broken } = await stage()
  const runs = [
    await app.enqueue(fine, 1),
    await app.enqueue(broken),
    await app.enqueue(fine, 3, { delay: "1h" }),
  ]
  const ids = runs.map(({ id }) => id)
  await app.runs.cancel(ids[2] ?? "", by)
  const waiting = app.runs.wait([...ids, ids[0] ?? ""])
  await app.drain()
  expect(await waiting).toMatchObject([
    { id: ids[0], state: "succeeded", result: 2 },
    { id: ids[1], state: "dead", error: { message: "no" } },
    { id: ids[2], state: "cancelled" },
    { id: ids[0] },
  ])
  expect(await app.runs.wait([])).toEqual([])
  await app.close()
})

it("many waits on another process ask about all of their runs in one statement", async () => {
  const { app, fine } = await stage()
  const client = await kit.beside(app)
  const handles = await app.enqueueMany(
    fine,
    Array.from({ length: 300 }, (_, input) => ({ input, delay: "1h" })),
  )
  const before = client.database.count("attempts/find-end")
  const waiting = client.runs.wait(handles.map(({ id }) => id))
  await expect.poll(() => client.database.count("attempts/find-end")).toBeGreaterThan(before)
  await app.clock.advance("1h")
  const ended = await waiting
  expect(ended.map(({ result }) => result)).toEqual(Array.from({ length: 300 }, (_, input) => input * 2))
  // It rests for longer and longer between two questions, and each is about all of them.
  expect(client.database.count("attempts/find-end") - before).toBeLessThan(30)
  await client.close()
  await app.close()
})

it("a wait that is too long ends at its deadline or its signal, and the run goes on", async () => {
  const { app, fine, held, gate } = await stage()
  const [run, done] = [await app.enqueue(held), await app.enqueue(fine, 1)]
  await app.tick()
  await app.runs.wait(done.id)
  await expect(app.runs.wait([run.id], { deadline: "50ms" })).rejects.toMatchObject({
    code: "RUN_NOT_ENDED",
    runId: run.id,
    message: `Run ${run.id} has not ended within 50ms.`,
  })
  const why = new Error("the user left")
  await expect(app.runs.wait(run.id, { signal: AbortSignal.abort(why) })).rejects.toBe(why)
  const patience = new AbortController()
  const waiting = expect(app.runs.wait(run.id, { signal: patience.signal })).rejects.toBe(why)
  patience.abort(why)
  await waiting
  gate.open()
  expect(await app.runs.wait(run.id, { deadline: "1m" })).toMatchObject({ state: "succeeded" })
  await app.close()
})

it("a wait for an unknown run fails at once, also beside others that go on", async () => {
  const { app, fine } = await stage()
  const run = await app.enqueue(fine, 1, { delay: "1h" })
  await expect(app.runs.wait([run.id, NOBODY])).rejects.toMatchObject({
    code: "RUN_NOT_FOUND",
    runId: NOBODY,
  })
  await expect(app.runs.wait(["x"])).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  const tooMany = Array.from({ length: 1_001 }, () => run.id)
  await expect(app.runs.wait(tooMany)).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  await app.close()
})

it("a wait for a run that was replayed returns its new end", async () => {
  const { app, broken } = await stage()
  const run = await app.enqueue(broken)
  await app.drain()
  await app.deadLetters.replay(run.id, by)
  const waiting = app.runs.wait(run.id)
  await app.drain()
  expect(await waiting).toMatchObject({ state: "dead", generation: 2 })
  await app.close()
})

it("the logs of a run are its lines, attempt by attempt", async () => {
  const { app, broken } = await stage()
  const run = await app.enqueue(broken)
  await app.drain()
  expect(await app.runs.logs(run.id)).toMatchObject([
    { generation: 1, attempt: 1, lines: [{ message: "attempt 1" }] },
    { generation: 1, attempt: 2, lines: [{ message: "attempt 2" }] },
  ])
  expect(await app.runs.logs(NOBODY)).toEqual([])
  await app.close()
})
