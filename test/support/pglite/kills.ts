/** Kills processes on PGlite on disk at seeded calls that change files, and checks the rest. */
import { join } from "node:path"
import { expect } from "vitest"
import * as given from "./fixture.ts"
import { expectEachOnce, seeded, startDiskWorker } from "./fixture.ts"

/** Change the seed to try other moments; these are as good as any. */
const SEED = 20_260_301

/** Each time the next process must be able to use the folder. */
export async function killFirstStarts(count: number): Promise<void> {
  const folder = await given.newFolder()
  const whole = startDiskWorker({ dataDir: join(folder, "whole") })
  await whole.call("start")
  // No two starts make exactly as many calls.
  const calls = 0.95 * (await given.stopDiskWorker(whole))
  const random = seeded(SEED)
  const moments = Array.from({ length: count }, () => 1 + Math.floor(random() * calls))
  for (const killAt of moments) {
    const dataDir = join(folder, `killed-at-${killAt}`)
    const victim = startDiskWorker({ dataDir, killAt })
    // Some of the calls are those of the stop.
    void victim
      .call("start")
      .then(() => victim.call("stop"))
      .then(victim.hangUp)
    expect(await victim.ended).toBe("SIGKILL")
    const heir = startDiskWorker({ dataDir })
    await heir.call("start")
    const run = await heir.call<string>("enqueue", { input: killAt })
    await expectEachOnce(heir, dataDir, [run])
    await given.stopDiskWorker(heir)
  }
}

/** In the end everything that was acknowledged must be there, once. */
export async function killUnderLoad(count: number): Promise<void> {
  const dataDir = join(await given.newFolder(), "data")
  const random = seeded(SEED)
  const acknowledged: string[] = []
  for (let kill = 0; kill < count; kill += 1) {
    // The first process creates everything; the others begin by recovering what the one before left.
    const killAt = (kill === 0 ? 6_200 : 50) + Math.floor(random() * 1_200)
    const victim = startDiskWorker({ dataDir, killAt })
    const enqueue = async (): Promise<void> => {
      acknowledged.push(await victim.call<string>("enqueue", { input: kill }))
      return enqueue()
    }
    // Some are in flight at any time, so that the kill meets enqueues, claims and settles together.
    void victim.call("start").then(() => Promise.all(Array.from({ length: 20 }, enqueue)))
    expect(await victim.ended).toBe("SIGKILL")
  }
  const heir = startDiskWorker({ dataDir })
  await heir.call("start")
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  expect(acknowledged.length).toBeGreaterThan(count)
  await expectEachOnce(heir, dataDir, acknowledged)
  await given.stopDiskWorker(heir)
}
