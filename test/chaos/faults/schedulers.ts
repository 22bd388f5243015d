/** Schedulers: many of them, killed anywhere in a tick. */
import { CRASH_POINTS } from "../../../src/runtime/crash-points.ts"
import type { Fault } from "../fault.ts"

const POINTS = CRASH_POINTS.filter((point) => point.startsWith("schedule."))

const PATIENCE_MS = 40_000

const crowd: Fault = {
  id: "F46",
  title: "ten schedulers, killed between any two steps of a tick",
  stage: { workers: 10, worker: { slots: 2 }, seconds: (asked) => Math.max(asked, 5) },
  strikes: POINTS.map((point) => `deaths at ${point}`),
  inject: async (world, chance, signal) => {
    const die = async (point: string) => {
      const crashAt = { point, time: chance.between(1, 2) }
      const mortal = await world.add("worker", { slots: 2, mayDie: true, crashAt })
      // Among so many it may take a while until it is the one that comes first.
      const how = await Promise.race([mortal.ended, world.rest(PATIENCE_MS)])
      if (how === "SIGKILL") world.struck(`deaths at ${point}`)
      else await world.kill(mortal)
    }
    do await Promise.all(POINTS.map(die))
    while (!signal.aborted)
  },
}

export const schedulers: readonly Fault[] = [crowd]
