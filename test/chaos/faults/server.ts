/** The server goes away and comes back. */
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault } from "../fault.ts"
import { SESSIONS } from "../observer.ts"
import type { StopMode } from "../server.ts"
import type { World } from "../world.ts"
import { complaintsAboutExpiry } from "../wrong-expiry.ts"

/** With growing waits between two tries: so often does one process try for one connection in the longest outage. */
const TRIES = 5
/** What the load asks for itself meanwhile, which is no part of the product: two or three a second. */
const OF_THE_LOAD = 25

function restarts(id: "F11" | "F12", title: string, modes: readonly StopMode[]): Fault {
  return {
    id,
    title,
    strikes: ["restarts"],
    inject: async (world, chance, signal) => {
      while (!signal.aborted) {
        await world.rest(chance.between(300, 1_500), signal)
        if (signal.aborted && world.strikes.size > 0) break
        const before = await dialsOf(world)
        await world.server.stop(chance.pick(modes))
        // At least once for longer than the shortest deadline of any call.
        await world.rest(world.strikes.size === 0 ? 1_000 : chance.between(0, 2_000))
        await world.server.start()
        world.struck("restarts")
        complainOfStorms(world, before, await dialsOf(world))
      }
    },
    heal: async (world) => {
      if (!world.server.isUp()) await world.server.start()
    },
    expect: (world) => complaintsAboutExpiry(world, world.strikes.get("restarts") ?? 0),
  }
}

/** By process: how many connections it has tried to open. */
async function dialsOf(world: World): Promise<ReadonlyMap<string, number>> {
  const members = [...world.workers(), ...world.producers()]
  const dials = await Promise.all(
    members.map(async (member) => [member.name, await member.call<number>("dials")] as const),
  )
  return new Map(dials)
}

/** A server that is about to come back must not be kept busy by waiting clients. */
function complainOfStorms(
  world: World,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): void {
  for (const [name, dials] of after) {
    const more = dials - (before.get(name) ?? 0)
    world.struck("connections tried", more)
    if (more > SESSIONS * TRIES + OF_THE_LOAD)
      world.complain(
        violationText("I25", `${name} tried to connect ${more} times while the server was away.`),
      )
  }
}

export const server: readonly Fault[] = [
  restarts("F11", "the server stops in an instant and recovers", ["immediate"]),
  restarts("F12", "the server is restarted in order", ["fast"]),
]
