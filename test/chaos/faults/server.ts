/** The server dies, is stopped and started, or refuses. */
import type { Fault } from "../fault.ts"
import type { StopMode } from "../server.ts"

function restarts(id: "F11" | "F12", title: string, modes: readonly StopMode[]): Fault {
  return {
    id,
    title,
    strikes: ["restarts"],
    inject: async (world, chance, signal) => {
      while (!signal.aborted) {
        await world.rest(chance.between(300, 1_500), signal)
        if (signal.aborted && world.strikes.size > 0) break
        await world.server.stop(chance.pick(modes))
        // At least once for longer than the shortest patience of anybody.
        await world.rest(world.strikes.size === 0 ? 1_000 : chance.between(0, 2_000))
        await world.server.start()
        world.struck("restarts")
      }
    },
    heal: async (world) => {
      if (!world.server.isUp()) await world.server.start()
    },
  }
}

export const server: readonly Fault[] = [
  restarts("F11", "the server stops in an instant and recovers", ["immediate"]),
  restarts("F12", "the server is restarted in order", ["fast"]),
]
