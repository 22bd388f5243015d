/**
 * A load so sparse that whoever is not told of a run has to look for it.
 *
 * Under the standard load somebody is always about to claim, because a run has ended or a schedule has fired: a process
 * that never looked by itself would not be noticed.
 */
import { DEFAULTS } from "../../src/defaults.ts"
import type { Chance } from "./chance.ts"
import type { Stage } from "./fault.ts"
import { SCHEDULES } from "./schedules.ts"
import type { World } from "./world.ts"

/** Whoever is told of nothing looks so often at least; and a little for a machine that is busy with other things. */
const WITHIN_MS = DEFAULTS.idlePollMs + 2_000
/** What comes due in the first half, and starts too late, is still seen to start. */
const SPARSE_MS = 2 * WITHIN_MS
const STANDARD_MS = 6_000
const RATE = 35

export const SPARSE: Stage = {
  workers: 2,
  startsWithinMs: WITHIN_MS,
  schedules: SCHEDULES.filter(({ name }) => name === "minutely"),
  seconds: (asked) => Math.max(asked, (SPARSE_MS + STANDARD_MS) / 1_000),
}

/** One run, and a while nothing, again and again; then the standard load. Says how many there were. */
export async function enqueueNowAndThen(world: World, chance: Chance): Promise<number> {
  const [producer] = world.producers()
  for (const each of world.producers()) await each.call("quiet")
  let many = 0
  for (const untilMs = performance.now() + SPARSE_MS; performance.now() < untilMs; many += 1) {
    await producer?.call("enqueue", {})
    await world.rest(chance.between(400, 1_200))
  }
  for (const schedule of SCHEDULES) await producer?.call("putSchedule", schedule)
  await world.load(RATE)
  return many
}
