/** Dead letters: read one by one and by groups, and decided about. */
import { afterAll, beforeAll, expect, it } from "vitest"
import type { RunFilter } from "../../src/index.ts"
import { describeEngines } from "../support/engines.ts"
import { by, die, openMortal, orders, START, told } from "../support/mortal-runs.ts"
import { execute, rowsOf } from "../support/sql.ts"
import { createWatchedKit, type WatchedApp, type WatchedKit } from "../support/watched-app.ts"

describeEngines("dead letters", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  const open = (options: { readonly version?: string } = {}) => openMortal(kit, options)
  const groupOf = async (app: WatchedApp) => {
    const { items } = await app.deadLetters.groups()
    return items[0] ?? expect.fail("there is no group")
  }

  it("tell everything about a run that died, and nothing of one that lives", async () => {
    await using opened = await open({ version: "1.4.0" })
    const { app, bill } = opened
    const [id = ""] = await die(opened, [{ order: 7 }], {
      tenant: "acme",
      tags: ["eu"],
      key: "k",
      priority: 3,
    })
    const letter = await app.deadLetters.get(id)
    expect(letter).toEqual({
      ...{
        id,
        state: "dead",
        job: "bill",
        pool: "default",
        priority: 3,
        tenant: "acme",
        tags: ["eu"],
        key: "k",
      },
      input: { order: 7 },
      error: {
        ...{ code: "E_DISK", message: "order 7 refused" },
        stack: expect.stringContaining("mortal-runs.ts"),
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      ...{ attempt: 1, generation: 1, enqueuedAt: new Date(START), dueAt: new Date(START) },
      ...{ startedAt: expect.any(Date), finishedAt: expect.any(Date), durationMs: expect.any(Number) },
      ...{ worker: expect.any(String), idempotencyKey: `run:${id}`, version: "1.4.0" },
    })
    const alive = await app.enqueue(bill, { order: 8 }, { delay: "1h" })
    expect(await app.deadLetters.get(alive.id)).toBeUndefined()
    await expect(app.deadLetters.get("seven")).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
  })

  it("are listed newest first, page by page, by job, group and tenant", async () => {
    await using opened = await open()
    const { app, mail } = opened
    const ids = await die(opened, [...orders(4), { order: 4, code: "E_NET" }])
    const [ofAcme = ""] = await die(opened, [{ order: 5 }], { tenant: "acme" })
    const other = await app.enqueue(mail, { order: 6 })
    await app.drain()
    const newestFirst = [other.id, ofAcme, ...ids.toReversed()]
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await app.deadLetters.list({ limit: 3, ...(cursor && { cursor }) })
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor)
    expect(seen).toEqual(newestFirst)
    const listed = async (filter: RunFilter | string) =>
      (await app.deadLetters.list({ filter })).items.map(({ id }) => id)
    expect(await listed({ job: "mail" })).toEqual([other.id])
    expect(await listed({ tenant: "acme" })).toEqual([ofAcme])
    expect(await listed({ job: "mail", tenant: "acme" })).toEqual([])
    const fingerprint = (await app.deadLetters.get(ids[4] ?? ""))?.error?.fingerprint ?? ""
    expect(await listed({ job: "bill", fingerprint })).toEqual([ids[4]])
    expect(await listed({ job: "bill", fingerprint, tenant: "acme" })).toEqual([])
    expect(await listed({ fingerprint })).toEqual([ids[4]])
    expect(await listed("job:bil* -tenant:* error:E_DISK")).toEqual(ids.slice(0, 4).toReversed())
    expect(await listed("finished<2026-03-01T09:00:02Z input.order>0")).toEqual([ids[1]])
    expect(await listed("job:mail,bill state:ready")).toEqual([])
  })

  it("are listed by a filter that few of them meet, page by page, and each once", async () => {
    await using opened = await open()
    const { app } = opened
    const ids = await die(opened, orders(9))
    const wanted = ids.filter((_, order) => order % 4 === 0).toReversed()
    const filter = "input.order=0,4,8 finished>-1h"
    const first = await app.deadLetters.list({ filter, limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual(wanted.slice(0, 2))
    // Relative times are counted from the first page.
    await app.clock.advance("2h")
    const { nextCursor: cursor = "" } = first
    const second = await app.deadLetters.list({ filter, limit: 2, cursor })
    expect(second.items.map(({ id }) => id)).toEqual(wanted.slice(2))
    expect(second.nextCursor).toBeUndefined()
    await expect(app.deadLetters.list({ filter: "job:bill", cursor })).rejects.toThrow("cursor")
  })

  it("refuse questions and orders that make no sense, and say what to do", async () => {
    await using opened = await open()
    const { deadLetters } = opened.app
    await die(opened, orders(3))
    const { nextCursor = "" } = await deadLetters.list({ limit: 1 })
    const { list, groups, replay, discard, resolve } = deadLetters
    const group = { job: "bill", fingerprint: "f" }
    const wrong: readonly (readonly [Promise<unknown>, string])[] = [
      [list({ filter: 7 } as object), "a filter"],
      [list({ filter: { job: "bill" }, cursor: nextCursor }), "cursor"],
      [groups({ cursor: nextCursor }), "cursor"],
      [list({ limit: 1_001 }), "1000"],
      [replay({}), "means all dead letters"],
      [discard({}), "means all dead letters"],
      [replay({ job: "bill" }, { rate: "often" }), "50/s"],
      [replay({ job: "bill" }, { limit: 1_001 }), "1000"],
      [replay("01900000-0000-7000-8000-000000000000", { canary: true } as object), "canary"],
      [resolve({ ...group, fingerprint: "" }), "fingerprint"],
      [resolve(group, { version: "" }), "version"],
    ]
    for (const call of [list({ filter: { jop: "bill" } } as object), replay("jop:bill")]) {
      await expect(call).rejects.toMatchObject({ code: "FILTER_INVALID" })
      await expect(call).rejects.toThrow("job")
    }
    for (const [call, words] of wrong) {
      await expect(call).rejects.toMatchObject({ code: "OPTIONS_INVALID" })
      await expect(call).rejects.toThrow(words)
    }
    expect((await list()).items).toHaveLength(3)
  })

  it("of a job with the same error are one group, with its first, its last, its count and its tenants", async () => {
    await using opened = await open()
    const { app, mail } = opened
    await die(opened, orders(3))
    const [last = ""] = await die(opened, [{ order: 3 }], { tenant: "acme" })
    await die(opened, [{ order: 4, code: "E_NET" }])
    await app.enqueue(mail, { order: 5 })
    await app.drain()
    const { items } = await app.deadLetters.groups()
    expect(items.map(({ job, count, state }) => [job, count, state]).toSorted()).toEqual([
      ["bill", 1, "open"],
      ["bill", 4, "open"],
      ["mail", 1, "open"],
    ])
    const group = items.find(({ count }) => count === 4)
    expect(group).toEqual({
      ...{ job: "bill", fingerprint: expect.any(String), state: "open", count: 4, capped: false },
      ...{ firstSeen: new Date(START), lastSeen: new Date("2026-03-01T09:00:03Z"), tenants: ["acme"] },
      sample: { id: last, code: "E_DISK", message: "order 3 refused" },
    })
    const { job = "", fingerprint = "" } = group ?? {}
    expect(await app.deadLetters.group({ job, fingerprint })).toEqual(group)
    expect(await app.deadLetters.group({ job, fingerprint }, { upTo: 2 })).toMatchObject({
      count: 2,
      capped: true,
    })
    expect(await app.deadLetters.group({ job: "mail", fingerprint })).toBeUndefined()
    const first = await app.deadLetters.groups({ job: "bill", limit: 1 })
    const cursor = first.nextCursor ?? expect.fail("there is another page")
    const second = await app.deadLetters.groups({ job: "bill", limit: 1, cursor })
    expect([...first.items, ...second.items]).toEqual(items.filter((each) => each.job === "bill"))
    expect(second.nextCursor).toBeUndefined()
  })

  it("of a group are open, resolved, ignored and open again, as operators decide", async () => {
    await using opened = await open()
    const { app } = opened
    await die(opened, orders(2))
    const { job, fingerprint } = await groupOf(app)
    const group = { job, fingerprint }
    const { resolve, ignore, reopen } = app.deadLetters
    expect(await reopen(group, by)).toBe(false)
    expect(await resolve(group, { ...by, version: "1.5.0" })).toBe(true)
    expect(await app.deadLetters.group(group)).toMatchObject({
      ...{ state: "resolved", resolvedIn: "1.5.0", count: 2, decidedAt: new Date("2026-03-01T09:00:02Z") },
    })
    expect(await ignore(group, by)).toBe(true)
    expect(await ignore(group, by)).toBe(false)
    expect(await groupOf(app)).toMatchObject({ state: "ignored" })
    expect(await reopen(group, by)).toBe(true)
    expect(await groupOf(app)).toMatchObject({ state: "open" })
    expect(
      await rowsOf(
        app.database,
        `select action, actor, reason, before, after from {audit} where subject = 'dead-letters:bill/${fingerprint}'
         order by at, action`,
      ).then((rows) =>
        rows.map(({ action, actor, before, after }) => [action, actor, before, after]).toSorted(),
      ),
    ).toEqual([
      [
        "dead-letters.ignore",
        "ada",
        { state: "resolved", version: "1.5.0" },
        { state: "ignored", version: null },
      ],
      ["dead-letters.reopen", "ada", { state: "ignored", version: null }, { state: "open" }],
      ["dead-letters.resolve", "ada", { state: "open" }, { state: "resolved", version: "1.5.0" }],
    ])
    expect(told(app, "dead-letters.resolved")).toEqual([
      { type: "dead-letters.resolved", ...group, version: "1.5.0", ...by },
    ])
    expect(told(app, "dead-letters.ignored")).toHaveLength(1)
    expect(told(app, "dead-letters.reopened")).toHaveLength(1)
  })

  it("of a resolved group regress by a death in that version or a later one, and by none in an older one", async () => {
    await using old = await open({ version: "1.9.0" })
    await die(old, orders(1))
    const { job, fingerprint } = await groupOf(old.app)
    await old.app.deadLetters.resolve({ job, fingerprint }, { ...by, version: "1.10.0" })
    await old.app.clock.advance("1m")
    await die(old, orders(1))
    expect(await groupOf(old.app)).toMatchObject({ state: "resolved", count: 2 })
    const [row] = await rowsOf(
      old.app.database,
      "select run::text from {dead_letters} order by died_at desc limit 1",
    )
    await execute(
      old.app.database,
      `update {dead_letters} set version = '1.10.0' where run = '${row?.["run"]}'`,
    )
    expect(await groupOf(old.app)).toMatchObject({ state: "regressed", resolvedIn: "1.10.0" })
    // To resolve it once more counts from now on.
    expect(await old.app.deadLetters.resolve({ job, fingerprint }, by)).toBe(true)
    expect(await groupOf(old.app)).toMatchObject({ state: "resolved" })
  })
})
