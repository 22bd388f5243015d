/** A run tells its end as it is now: a death is no end any more once the run was replayed. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeEngines } from "../support/engines.ts"
import { by, die, openMortal, orders } from "../support/mortal-runs.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

const DEAD = { filter: { state: "dead" } } as const

describeEngines("the end of a run", (engine) => {
  let kit: WatchedKit
  beforeAll(async () => {
    kit = await createWatchedKit(engine.name === "PGlite" ? "memory" : engine.url())
  })
  afterAll(() => kit.close())

  it("calls a run dead until it is replayed, and not after the replay has succeeded", async () => {
    await using mortal = await openMortal(kit)
    const { app, world } = mortal
    const [replayed = "", dead = ""] = await die(mortal, orders(2))
    const endsOf = async (id: string) =>
      (await app.runs.attempts(id)).map(({ generation, runState }) => [generation, runState])
    const deadOnes = async () => (await app.runs.list(DEAD)).items.map(({ id }) => id)
    expect(await deadOnes()).toEqual([dead, replayed])
    expect(await endsOf(replayed)).toEqual([[1, "dead"]])
    world.isMended = true
    await app.deadLetters.replay(replayed, by)
    expect(await deadOnes()).toEqual([dead])
    expect(await endsOf(replayed)).toEqual([[1, undefined]])
    await app.clock.advance("1s")
    expect(await deadOnes()).toEqual([dead])
    expect(await endsOf(replayed)).toEqual([
      [1, undefined],
      [2, "succeeded"],
    ])
    expect((await app.runs.list()).items.map(({ id, state }) => [id, state])).toEqual([
      [dead, "dead"],
      [replayed, "succeeded"],
    ])
  })

  it("calls a run dead that was replayed and died again, once", async () => {
    await using mortal = await openMortal(kit)
    const { app } = mortal
    const [id = ""] = await die(mortal, orders(1))
    await app.deadLetters.replay(id, by)
    await app.clock.advance("1s")
    const { items } = await app.runs.list(DEAD)
    expect(items.map((run) => [run.id, run.generation])).toEqual([[id, 2]])
    expect((await app.runs.attempts(id)).map(({ runState }) => runState)).toEqual([undefined, "dead"])
  })

  it("calls a run discarded that was given up, and no longer dead", async () => {
    await using mortal = await openMortal(kit)
    const { app } = mortal
    const [id = ""] = await die(mortal, orders(1))
    await app.deadLetters.discard(id, by)
    expect((await app.runs.list(DEAD)).items).toEqual([])
    expect(await app.runs.get(id)).toMatchObject({ state: "discarded" })
    expect(await app.runs.attempts(id)).toMatchObject([{ runState: "discarded" }])
  })

  it("fills its pages of dead runs although others were replayed in between", async () => {
    await using mortal = await openMortal(kit)
    const { app, world } = mortal
    const ids = await die(mortal, orders(9))
    world.isMended = true
    const left = ids.filter((_, index) => index % 3 === 0).toReversed()
    for (const id of ids) if (!left.includes(id)) await app.deadLetters.replay(id, by)
    await app.drain()
    const first = await app.runs.list({ ...DEAD, limit: 2 })
    const cursor = first.nextCursor ?? expect.fail("there is another page")
    const second = await app.runs.list({ ...DEAD, limit: 2, cursor })
    expect([first, second].map(({ items }) => items.map(({ id }) => id))).toEqual([
      left.slice(0, 2),
      left.slice(2),
    ])
    expect(second.nextCursor).toBeUndefined()
  })
})
