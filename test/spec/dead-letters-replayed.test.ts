/** Dead letters are replayed, edited and discarded: by group and filter, canary first, through crashes and races. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeEngines } from "../support/engines.ts"
import { by, die, generationsOf, openMortal, orders, START, told } from "../support/mortal-runs.ts"
import { rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describeEngines("dead letters", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  const open = (options: { readonly version?: string } = {}) => openMortal(kit, options)

  it("of a group are replayed together, each run once, with all its attempts", async () => {
    await using opened = await open()
    const { app, world } = opened
    await die(opened, [...orders(5), { order: 9, code: "E_NET" }])
    const { items } = await app.deadLetters.groups()
    const { job, fingerprint } =
      items.find(({ count }) => count === 5) ?? expect.fail("there is no such group")
    world.isMended = true
    expect(await app.deadLetters.replay({ job, fingerprint }, by)).toEqual({ replayed: 5, more: false })
    await app.drain()
    expect(await generationsOf(app)).toEqual([
      [1, 6],
      [2, 5],
    ])
    expect((await app.deadLetters.list()).items.map(({ input }) => input)).toEqual([
      { order: 9, code: "E_NET" },
    ])
    const [event, ...others] = told(app, "dead-letters.replayed")
    expect(others).toEqual([])
    expect(event).toMatchObject({ ...by, runs: expect.any(Array) })
    expect(event?.runs).toHaveLength(5)
    const audit = "select distinct actor, reason from {audit} where action = 'run.replay'"
    expect(await rowsOf(app.database, audit)).toEqual([by])
    expect(await app.deadLetters.replay({ job, fingerprint }, by)).toEqual({ replayed: 0, more: false })
  })

  it("are replayed up to a limit, the newest first, and the answer says that there are more", async () => {
    await using opened = await open()
    const ids = await die(opened, orders(3))
    expect(await opened.app.deadLetters.replay({ job: "bill" }, { ...by, limit: 2 })).toEqual({
      ...{ replayed: 2, more: true },
    })
    expect((await opened.app.deadLetters.list()).items.map(({ id }) => id)).toEqual([ids[0]])
  })

  it("that die again while others are replayed are not replayed again by the same call", async () => {
    await using opened = await open()
    const { app } = opened
    await die(opened, orders(3))
    const replaying = app.deadLetters.replay({ job: "bill" }, { ...by, rate: "10/s" })
    for (const count of [1, 2, 3]) {
      await app.until("dead-letters.replayed", () => told(app, "dead-letters.replayed").length >= count)
      await app.drain()
    }
    expect(await replaying).toEqual({ replayed: 3, more: false })
    await app.drain()
    expect(await generationsOf(app)).toEqual([
      [1, 3],
      [2, 3],
    ])
    expect((await app.deadLetters.list()).items).toHaveLength(3)
  })

  it("are replayed after a canary that succeeded", async () => {
    await using opened = await open()
    const { app, world } = opened
    const ids = await die(opened, orders(4))
    world.isMended = true
    const replaying = app.deadLetters.replay({ job: "bill" }, { ...by, canary: true })
    await app.until("dead-letters.replayed")
    expect((await app.deadLetters.list()).items).toHaveLength(3)
    await app.drain()
    expect(await replaying).toEqual({
      ...{ replayed: 4, more: false },
      canary: { run: ids[3], state: "succeeded" },
    })
    await app.drain()
    expect((await app.deadLetters.list()).items).toEqual([])
  })

  it("stay where they are after a canary that died", async () => {
    await using opened = await open()
    const { app } = opened
    const ids = await die(opened, orders(4))
    const replaying = app.deadLetters.replay({ job: "bill" }, { ...by, canary: true })
    await app.until("dead-letters.replayed")
    await app.drain()
    expect(await replaying).toEqual({ replayed: 1, more: true, canary: { run: ids[3], state: "dead" } })
    expect(await generationsOf(app)).toEqual([
      [1, 4],
      [2, 1],
    ])
  })

  it("stay where they are if the caller gives up waiting for the canary", async () => {
    await using opened = await open()
    const { app } = opened
    await die(opened, orders(2))
    const patience = new AbortController()
    const replaying = app.deadLetters.replay({ job: "bill" }, { canary: true, signal: patience.signal })
    const refused = expect(replaying).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })
    await app.until("dead-letters.replayed")
    patience.abort()
    await refused
    expect((await app.deadLetters.list()).items).toHaveLength(1)
  })

  it("are replayed with another input, which the schema of the job has checked", async () => {
    await using opened = await open()
    const { app, world } = opened
    const [id = ""] = await die(opened, [{ order: 1, code: "E_NET" }])
    await expect(app.deadLetters.editAndReplay(id, { order: "two" }, by)).rejects.toMatchObject({
      ...{ code: "INPUT_INVALID", issues: [{ path: "order" }] },
    })
    expect(await app.deadLetters.get(id)).toMatchObject({ generation: 1, input: { order: 1, code: "E_NET" } })
    world.isMended = true
    await app.deadLetters.editAndReplay(id, { order: 2 }, by)
    const result = app.runs.wait(id)
    await app.drain()
    expect(await result).toMatchObject({ result: 2 })
    expect(world.inputs).toEqual([{ order: 1, code: "E_NET" }, { order: 2 }])
    const inputs = "select generation, input from {attempts} order by generation"
    expect(await rowsOf(app.database, inputs)).toEqual([
      { generation: 1, input: { order: 1, code: "E_NET" } },
      { generation: 2, input: { order: 2 } },
    ])
    expect(
      await rowsOf(
        app.database,
        `select actor, reason, before, after from {audit} where subject = 'run:${id}'`,
      ),
    ).toEqual([
      {
        ...by,
        before: { generation: 1, input: { "/order": 1, "/code": "E_NET" } },
        after: { generation: 2, input: { "/order": 2 } },
      },
    ])
    await expect(app.deadLetters.editAndReplay(id, { order: 2 }, by)).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    })
  })

  it("are replayed with any input by a process that does not know the job", async () => {
    await using opened = await open()
    const [id = ""] = await die(opened, orders(1))
    await using operator = await kit.app({ at: START })
    await expect(operator.deadLetters.editAndReplay(id, { any: 1 }, by)).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    })
    if (engine.lacks.includes("connections")) return
    await using beside = await kit.beside(opened.app)
    await beside.deadLetters.editAndReplay(id, { any: 1 }, by)
    expect(await opened.app.runs.get(id)).toMatchObject({ generation: 2, input: { any: 1 } })
  })

  it("that meet a filter in words are replayed and discarded", async () => {
    await using opened = await open()
    const { app } = opened
    const ids = await die(opened, [...orders(4), { order: 9, code: "E_NET" }])
    expect(await app.deadLetters.replay("job:bi* error:E_DISK input.order<2", by)).toEqual({
      ...{ replayed: 2, more: false },
    })
    expect(await app.deadLetters.discard("error:E_NET", by)).toEqual({ discarded: 1, more: false })
    expect((await app.deadLetters.list()).items.map(({ id }) => id)).toEqual([ids[3], ids[2]])
  })

  it("are discarded together, and stay in history", async () => {
    await using opened = await open()
    const { app } = opened
    await die(opened, orders(3))
    const [kept = ""] = await die(opened, [{ order: 4, code: "E_NET" }])
    const { items } = await app.deadLetters.groups()
    const { job, fingerprint } =
      items.find(({ count }) => count === 3) ?? expect.fail("there is no such group")
    const group = { job, fingerprint }
    expect(await app.deadLetters.discard(group, { ...by, limit: 2 })).toEqual({ discarded: 2, more: true })
    expect(await app.deadLetters.discard(group, by)).toEqual({ discarded: 1, more: false })
    expect((await app.deadLetters.list()).items.map(({ id }) => id)).toEqual([kept])
    expect((await app.runs.list()).items).toHaveLength(4)
    expect(told(app, "dead-letters.discarded").map(({ runs }) => runs.length)).toEqual([2, 1])
    const audit = "select count(*)::int as n from {audit} where action = 'run.discard' and actor = 'ada'"
    expect(await rowsOf(app.database, audit)).toEqual([{ n: 3 }])
  })

  it.each(["replay", "discard"] as const)(
    "of a process that died in the middle of a %s are neither lost nor taken twice by the next call",
    async (action) => {
      await using opened = await open()
      const { app, bill, world } = opened
      const count = 250
      await app.enqueueMany(
        bill,
        orders(count).map((input) => ({ input })),
      )
      await app.drain()
      app.crashAt(`${action}.committed`, 2)
      void app.deadLetters[action]({ job: "bill" }, by)
      await app.crashed()
      await app.restart()
      const left = (await app.deadLetters.list({ limit: 1_000 })).items.length
      expect(left).toBe(50)
      world.isMended = true
      const rest = await app.deadLetters[action]({ job: "bill" }, by)
      expect(rest).toMatchObject({ [action === "replay" ? "replayed" : "discarded"]: 50, more: false })
      await app.drain()
      expect((await app.deadLetters.list()).items).toEqual([])
      expect(await generationsOf(app)).toEqual(
        action === "replay"
          ? [
              [1, count],
              [2, count],
            ]
          : [[1, count]],
      )
    },
  )

  itWithConnections(
    "are replayed or discarded once, by two processes that do both at the same time",
    async () => {
      await using opened = await open()
      const { app, bill, world } = opened
      await app.enqueueMany(
        bill,
        orders(300).map((input) => ({ input })),
      )
      await app.drain()
      world.isMended = true
      await using beside = await kit.beside(app, { jobs: [bill] })
      const [one, other, gone] = await Promise.all([
        app.deadLetters.replay({ job: "bill" }, by),
        beside.deadLetters.replay({ job: "bill" }, by),
        beside.deadLetters.discard({ job: "bill" }, by),
      ])
      expect(one.replayed + other.replayed + gone.discarded).toBe(300)
      await app.drain()
      expect(await generationsOf(app)).toEqual([
        [1, 300],
        ...(gone.discarded === 300 ? [] : [[2, 300 - gone.discarded]]),
      ])
      expect((await app.deadLetters.list()).items).toEqual([])
      const audits =
        "select count(distinct subject)::int as runs, count(*)::int as n from {audit} where subject like 'run:%'"
      expect(await rowsOf(app.database, audits)).toEqual([{ runs: 300, n: 300 }])
    },
  )
})
