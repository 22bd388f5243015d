/** A story on a stage of its own: without the standard load, judged by its own checks and by its history. */
import type { Invariant } from "../support/history/violation.ts"
import type { Stage, Told } from "./fault.ts"
import { examineWorld } from "./judge.ts"
import { createObserver } from "./observer.ts"
import { drain, stopAll } from "./recovery.ts"
import type { Chance } from "./seeded-random.ts"
import { openWorld, type World } from "./world.ts"

export interface Plot {
  readonly stage: Stage
  /** What `play` itself looks at, beside what the history is held against. */
  readonly asks: readonly Invariant[]
  /** The blows that must have been struck. */
  readonly strikes: readonly string[]
  /** Reports every fault to the world. Afterwards every process must stop and end in order. */
  readonly play: (world: World, chance: Chance) => Promise<void>
}

const DRAIN_MS = 30_000

export async function tellOnStage(
  folder: string,
  chance: Chance,
  { stage, asks, strikes, play }: Plot,
): Promise<Told> {
  const world = await openWorld(folder, stage, chance.fork("stage"))
  try {
    const observer = createObserver(world)
    await play(world, chance.fork("story"))
    observer.record("healed", {})
    await drain(world, DRAIN_MS)
    await observer.rest()
    await stopAll(world)
    await observer.last()
    const { examination: _, ...examined } = await examineWorld(world, stage)
    const missing = strikes.filter((name) => !world.strikes.get(name))
    return {
      ...examined,
      done: [...world.strikes].map(([name, count]) => `${count} ${name}`).join(", "),
      judged: [...new Set([...examined.judged, ...asks])],
      complaints: [
        ...missing.map((name) => `The fault never struck: no ${name}.`),
        ...world.complaints,
        ...examined.complaints,
      ],
    }
  } finally {
    await world.close()
  }
}
