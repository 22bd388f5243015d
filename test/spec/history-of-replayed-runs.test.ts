/** History tells the end of a run as it is now: a death is no end any more once the run was replayed. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeEngines } from "../support/engines.ts"
import { by, die, openMortal, orders } from "../support/mortal-runs.ts"
import { createWatchedKit, type WatchedKit } from "../support/watched-app.ts"

describeEngines("history", (engine) => {
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
      (await app.attempts(id)).map(({ generation, runState }) => [generation, runState])
    const deadOnes = async () => (await app.history({ state: "dead" })).attempts.map(({ runId }) => runId)
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
    const { attempts } = await app.history()
    expect(attempts.map(({ runId, runState }) => [runId, runState])).toEqual([
      [replayed, "succeeded"],
      [dead, "dead"],
      [replayed, undefined],
    ])
  })

  it("calls a run dead that was replayed and died again, once", async () => {
    await using mortal = await openMortal(kit)
    const { app } = mortal
    const [id = ""] = await die(mortal, orders(1))
    await app.deadLetters.replay(id, by)
    await app.clock.advance("1s")
    const { attempts } = await app.history({ state: "dead" })
    expect(attempts.map(({ runId, generation }) => [runId, generation])).toEqual([[id, 2]])
  })

  it("calls a run dead that was discarded", async () => {
    await using mortal = await openMortal(kit)
    const { app } = mortal
    const [id = ""] = await die(mortal, orders(1))
    await app.deadLetters.discard(id, by)
    expect((await app.history({ state: "dead" })).attempts).toMatchObject([{ runId: id, runState: "dead" }])
  })

  it("fills its pages of dead runs although others were replayed in between", async () => {
    await using mortal = await openMortal(kit)
    const { app, world } = mortal
    const ids = await die(mortal, orders(9))
    world.isMended = true
    const left = ids.filter((_, index) => index % 3 === 0).toReversed()
    for (const id of ids) if (!left.includes(id)) await app.deadLetters.replay(id, by)
    await app.drain()
    const first = await app.history({ state: "dead", limit: 2 })
    const cursor = first.cursor ?? expect.fail("there is another page")
    const second = await app.history({ state: "dead", limit: 2, cursor })
    expect([first, second].map(({ attempts }) => attempts.map(({ runId }) => runId))).toEqual([
      left.slice(0, 2),
      left.slice(2),
    ])
    expect(second.cursor).toBeUndefined()
  })
})
