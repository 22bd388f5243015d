/** A story on a stage of its own: without the standard load, and judged by what it says itself. */
import type { Chance } from "./chance.ts"
import type { Stage, Told } from "./fault.ts"
import { stopAll } from "./recovery.ts"
import { openWorld, type World } from "./world.ts"

export interface Plot {
  readonly stage: Stage
  readonly judged: readonly string[]
  /** The blows that must have been struck. */
  readonly strikes: readonly string[]
  /** Complains to the world about whatever must not be. Afterwards everybody must stop and end in order. */
  readonly play: (world: World, chance: Chance) => Promise<void>
}

export async function tellOnStage(
  folder: string,
  chance: Chance,
  { stage, judged, strikes, play }: Plot,
): Promise<Told> {
  const world = await openWorld(folder, stage, chance.fork("stage"))
  try {
    await play(world, chance.fork("story"))
    await stopAll(world)
    const missing = strikes.filter((name) => !world.strikes.get(name))
    const [row] = await world.talk.ask(
      `select count(distinct run)::int as runs, count(*)::int as attempts from "${world.schema}".attempts`,
    )
    return {
      done: [...world.strikes].map(([name, count]) => `${count} ${name}`).join(", "),
      complaints: [...missing.map((name) => `The fault never struck: no ${name}.`), ...world.complaints],
      judged: [...judged, "I31"],
      runs: Number(row?.["runs"]),
      attempts: Number(row?.["attempts"]),
    }
  } finally {
    await world.close()
  }
}
