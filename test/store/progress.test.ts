import { expect, it } from "vitest"
import { recordProgress } from "../../src/store/runs/record-progress.ts"
import { recordStart } from "../../src/store/runs/record-start.ts"
import { describeEngines } from "../support/engines.ts"
import {
  type Claimed,
  claimNewRun,
  everythingAbout,
  finish,
  host,
  killLease,
  type Runner,
  release,
  runOf,
  withStoppedClock,
} from "../support/runs.ts"

describeEngines("progress that a worker writes about its run", (engine) => {
  it("is kept, and gone with the attempt", async () => {
    const { database } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database)
    const { id, lease, claim: number } = claimed
    expect(await database.run(recordStart, { id, lease, claim: number })).toEqual([{ id }])
    expect(await database.run(recordProgress, { id, lease, claim: number, progress: '{"at":1}' })).toEqual([
      { id },
    ])
    expect(await runOf(database, id)).toMatchObject({ started: true, progress: { at: 1 } })
    await release(database, claimed)
    expect(await runOf(database, id)).toMatchObject({ started: false, progress: null })
  })

  it.each<[string, (on: Runner, claimed: Claimed) => Promise<unknown>, Partial<Claimed>]>([
    ["another claim", async () => {}, { claim: 1n }],
    ["another lease", async () => {}, { lease: host.newId() }],
    ["a lease that is dead", (on, { lease }) => on.run(killLease, { lease }), {}],
    ["a run that is given back", release, {}],
    ["a run that has ended", finish, {}],
  ])("is refused with %s", async (_, change, other) => {
    const { database } = await withStoppedClock(engine)
    const claimed = await claimNewRun(database)
    await change(database, claimed)
    const before = await everythingAbout(database, claimed.id)
    const { lease, claim: number } = { ...claimed, ...other }
    expect(await database.run(recordStart, { id: claimed.id, lease, claim: number })).toEqual([])
    const said = { id: claimed.id, lease, claim: number, progress: "1" }
    expect(await database.run(recordProgress, said)).toEqual([])
    expect(await everythingAbout(database, claimed.id)).toEqual(before)
  })
})
