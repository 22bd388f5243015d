/** Runs seeds one after the other in this process, on one database that is made anew from time to time. */
import { layGround } from "./database/shared-database.ts"
import { simulate } from "./simulate.ts"
import { type Result, resultOf } from "./statistics.ts"

/** PGlite keeps some of what every seed leaves behind. */
const SEEDS_PER_DATABASE = 300

export interface SeedOptions {
  /** Gets every line of the trace. */
  readonly print?: (line: string) => void
}

export async function* runSeeds(seeds: Iterable<number>, options: SeedOptions = {}): AsyncGenerator<Result> {
  let ground = await layGround()
  let count = 0
  try {
    for (const seed of seeds) {
      if (count > 0 && count % SEEDS_PER_DATABASE === 0) {
        await ground.close()
        ground = await layGround()
      }
      count += 1
      const before = process.cpuUsage()
      const simulation = await simulate(ground, seed, options.print)
      const { user, system } = process.cpuUsage(before)
      yield resultOf(simulation, (user + system) / 1_000)
    }
  } finally {
    await ground.close()
  }
}
