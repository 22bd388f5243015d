/** The network between processes and server: slow, silent, one-way, cut. */
import { textOf } from "../../support/wire.ts"
import type { Chance } from "../chance.ts"
import type { Fault } from "../fault.ts"
import type { Rule } from "../network.ts"
import type { World } from "../world.ts"

/** What the server says when something was written. */
const WRITTEN = /^(COMMIT|INSERT|UPDATE|DELETE|SELECT)/

/** Cuts the connection in place of the answer that says that it is done. */
function cutting(world: World, chance: Chance, probability: number): Rule {
  return (message, direction) => {
    if (direction !== "to client" || message.type !== "C") return "pass"
    const tag = textOf(message)
    if (!WRITTEN.test(tag) || !chance.whether(tag === "COMMIT" ? probability : probability / 3)) return "pass"
    world.struck(tag === "COMMIT" ? "commits whose answer was lost" : "other answers lost")
    return "cut"
  }
}

const lostCommits: Fault = {
  id: "F18",
  title: "it is committed, and the answer is lost",
  stage: { proxied: true },
  strikes: ["commits whose answer was lost"],
  inject: async (world, chance, signal) => {
    const everybody = [...world.workers(), ...world.producers()]
    for (const { name, network } of everybody) network?.obey(cutting(world, chance.fork(name), 0.05))
    await world.rest(60_000, signal)
  },
  heal: async (world) => {
    for (const { network } of world.everybody()) network?.pass()
  },
}

export const network: readonly Fault[] = [lostCommits]
