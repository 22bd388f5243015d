import { describe, expect, it } from "vitest"
import { LIMIT_KINDS } from "../../src/queue/limit-kind.ts"
import { admitRuns } from "../../src/store/limits/admit.ts"
import { nextInLine } from "../../src/store/limits/next-in-line.ts"
import { limitsWithRoom } from "../../src/store/limits/with-room.ts"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { describeEngines } from "../support/engines.ts"
import { admitted, declare, ONE, room, sweep, wholeLines } from "../support/limits.ts"
import {
  claim,
  finish,
  host,
  insert,
  NINE_O_CLOCK,
  openLease,
  type Runner,
  release,
  retry,
  withStoppedClock,
} from "../support/runs.ts"
import { execute, rowsOf } from "../support/sql.ts"

describeEngines("a limit", (engine) => {
  const itWithConnections = it.skipIf(engine.lacks.includes("connections"))

  it("admits as many runs as its cap says, the first in line first, each into its lane", async () => {
    const { database, clock } = await withStoppedClock(engine)
    await declare(database, "one", 2)
    const ids = await insert(database, { limits: ONE }, { limits: ONE }, { limits: ONE, priority: 5 })
    await clock.set("2026-03-01T10:00Z")
    const [lane, rank] = [{ pool: "default", solo: true }, NINE_O_CLOCK + 3_600_000_000n]
    const lanes = (await sweep(database)).toSorted((a, b) => a.priority - b.priority)
    // The higher priority is first in line.
    expect(lanes).toEqual([
      { ...lane, priority: 0, rank: rank + 1n },
      { ...lane, priority: 5, rank },
    ])
    expect(await admitted(database)).toEqual([ids[0], ids[2]])
    const rows = await rowsOf(database, "select run, admitted from {run_limits} order by run")
    expect(rows).toEqual(ids.map((run, index) => ({ run, admitted: index !== 1 })))
    expect(await sweep(database)).toEqual([])
  })

  it("without a known cap admits one run", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, { limits: ONE }, { limits: ONE })
    expect(await sweep(database)).toHaveLength(1)
    expect(await room(database, { ...ONE, unknown: "unknown" })).toEqual({ k: 0, unknown: 1 })
  })

  it("counts for each key on its own", async () => {
    const { database } = await withStoppedClock(engine)
    await insert(database, ...["a", "b", "a"].map((key) => ({ limits: { [key]: "one" } })))
    expect(await sweep(database)).toHaveLength(2)
  })

  it.each([
    ["ends", finish, 1],
    ["is given back", release, 0],
    ["is ready again at once", retry, 0],
    [
      "waits for its next attempt",
      (on: Runner, held: Parameters<typeof retry>[1]) => retry(on, held, { delayMs: 9 }),
      1,
    ],
  ] as const)("has a place again when a run under it %s, or not", async (_, settle, places) => {
    const { database } = await withStoppedClock(engine)
    await insert(database, { limits: ONE }, { limits: ONE })
    await sweep(database)
    await settle(database, await claim(database, await openLease(database)))
    expect(await room(database, ONE)).toEqual({ k: places })
    expect(await sweep(database)).toHaveLength(places)
  })

  describe("among several of one run", () => {
    it("admits it when all of them have room, and gives it a place under each", async () => {
      const { database } = await withStoppedClock(engine)
      await declare(database, "two", 2)
      const limits = { a: "one", b: "two" }
      const ids = await insert(database, { limits }, { limits }, { limits: { b: "two" } })
      expect(await sweep(database)).toHaveLength(2)
      expect(await admitted(database)).toEqual([ids[0], ids[2]])
      expect(await room(database, limits)).toEqual({ a: 0, b: 0 })
    })

    it("has a key of a known kind, under a named limit if it is of a job", async () => {
      const { database } = await withStoppedClock(engine)
      const [id = ""] = await insert(database, { limits: { k: "x" } })
      const set = (what: string) => execute(database, `update {run_limits} set ${what} where run = '${id}'`)
      for (const kind of Object.keys(LIMIT_KINDS)) await set(`kind = '${kind}'`)
      await expect(set("kind = 'other'")).rejects.toThrow()
      await set("kind = 'schedule', limit_name = null")
      expect(await sweep(database)).toHaveLength(1)
      await expect(set("kind = 'job'")).rejects.toThrow()
    })

    it("is reported with the others, in their order", async () => {
      const { database } = await withStoppedClock(engine)
      const ids = await insert(
        database,
        { limits: { b: "x", a: "x" } },
        { limits: { a: "x" }, priority: 1 },
        { limits: { a: "x" }, delayMs: 1 },
      )
      const line = async (limit: number, ...keys: string[]) =>
        (await database.run(nextInLine, { ...wholeLines(keys), full: [], limit })).map(({ run, needs }) => [
          run,
          JSON.parse(needs),
        ])
      const [first, second] = [
        [ids[1], [["a", "job", "x"]]],
        [
          ids[0],
          [
            ["a", "job", "x"],
            ["b", "job", "x"],
          ],
        ],
      ]
      expect(await line(9, "a")).toEqual([first, second])
      expect(await line(1, "a", "b", "c")).toEqual([first, second])
      const behind = await database.run(nextInLine, { ...wholeLines(["a"]), full: ["b", "c"], limit: 1 })
      expect(behind.map(({ run }) => run)).toEqual([ids[1]])
      expect(await database.run(nextInLine, { ...wholeLines(["b"]), full: ["b"], limit: 9 })).toEqual([])
    })

    it("is the limit of the first in line, because a key belongs to one limit", async () => {
      const { database } = await withStoppedClock(engine)
      await declare(database, "two", 2)
      await declare(database, "three", 3)
      await insert(database, { limits: { k: "three" } }, { limits: { k: "two" } }, { limits: { k: "three" } })
      expect(await database.run(limitsWithRoom, { after: "", limit: 9 })).toMatchObject([
        { key: "k", room: 3 },
      ])
      expect(await sweep(database)).toHaveLength(3)
    })
  })

  describe("with a changed cap", () => {
    it("reports the change, and nothing when it is the same", async () => {
      const { database } = await withStoppedClock(engine)
      expect(await declare(database, "one", 2)).toHaveLength(1)
      expect(await declare(database, "one", 2)).toEqual([])
      expect(await declare(database, "one", 3)).toHaveLength(1)
      await expect(declare(database, "one", -1)).rejects.toMatchObject({ code: "DATABASE_REFUSED_VALUE" })
    })

    it("admits more at once, and none while too many run", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, ...Array(6).fill({ limits: ONE }))
      const counts: number[] = []
      const lease = await openLease(database)
      const held = { lease, claim: 0n, ids: [] as string[] }
      for (const cap of [1, 3, 0, 1]) {
        await declare(database, "one", cap)
        counts.push((await sweep(database)).length)
        Object.assign(held, await claim(database, lease), { ids: [...held.ids] })
      }
      expect(counts).toEqual([1, 2, 0, 0])
      expect(await room(database, ONE)).toEqual({ k: -2 })
    })

    itWithConnections("during a count takes effect at the next count", async () => {
      const { database } = await withStoppedClock(engine)
      await declare(database, "one", 2)
      await insert(database, ...Array(4).fill({ limits: ONE }))
      const lowered = async () => {
        await declare(await engine.open(database.schema), "one", 1)
      }
      expect(await sweep(database, lowered)).toHaveLength(2)
      expect(await room(database, ONE)).toEqual({ k: -1 })
      expect(await sweep(database)).toEqual([])
    })
  })

  it("does not admit a run that has left the line", async () => {
    const { database } = await withStoppedClock(engine)
    const [cancelled = "", kept = ""] = await insert(database, { limits: ONE }, { limits: ONE })
    await database.run(cancelRun, { id: cancelled, code: "C", message: "no" })
    expect(await database.run(admitRuns, { ids: [cancelled, kept, host.newId()], keys: ["k"] })).toHaveLength(
      1,
    )
    expect(await database.run(admitRuns, { ids: [kept], keys: ["k"] })).toEqual([])
    expect(await rowsOf(database, "select run, admitted from {run_limits}")).toEqual([
      { run: kept, admitted: true },
    ])
  })

  it("does not admit a run that needs room under another key too", async () => {
    const { database } = await withStoppedClock(engine)
    const [id = ""] = await insert(database, { limits: { a: "one", b: "one" } })
    expect(await database.run(admitRuns, { ids: [id], keys: ["a"] })).toEqual([])
    expect(await database.run(admitRuns, { ids: [id], keys: ["a", "b"] })).toHaveLength(1)
  })

  describe("after an interrupted admission", () => {
    it("is found by going from key to key, and keys without a line are not read", async () => {
      const { database } = await withStoppedClock(engine)
      await declare(database, "two", 2)
      for (const key of ["a", "b", "c", "d"]) await insert(database, { limits: { [key]: "two" } })
      await sweep(database)
      await insert(database, { limits: { b: "two" } }, { limits: { d: "two" } }, { limits: { e: "two" } })
      await insert(database, { limits: { f: "two" }, delayMs: 1 })
      const found = (after: string, limit: number) => database.run(limitsWithRoom, { after, limit })
      const [b, d, e] = [
        { key: "b", room: 1, priority: 0, rank: NINE_O_CLOCK },
        { key: "d", room: 1, priority: 0, rank: NINE_O_CLOCK + 1n },
        { key: "e", room: 2, priority: 0, rank: NINE_O_CLOCK + 2n },
      ]
      expect(await found("", 9)).toEqual([b, d, e])
      expect(await found("", 2)).toEqual([b, d])
      expect(await found("d", 2)).toEqual([e])
      expect(await found("e", 2)).toEqual([])
    })

    it("by a crash between counting and admitting leaks nothing: the next process counts anew", async () => {
      const { database } = await withStoppedClock(engine)
      await insert(database, ...Array(3).fill({ limits: ONE }))
      const crash = () => {
        throw new Error("killed")
      }
      await expect(sweep(database, crash)).rejects.toThrow("killed")
      expect(await admitted(database)).toEqual([])
      expect(await room(database, ONE)).toEqual({ k: 1 })
      expect(await sweep(database)).toHaveLength(1)
    })
  })
})
