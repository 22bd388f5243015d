/** The network between processes and server: slow, silent, one-way, cut. */

import { violationText } from "../../support/history/violation-text.ts"
import { textOf } from "../../support/wire-messages.ts"
import { complaintsAboutHeld, type Held, takeHold } from "../cut-off-runs.ts"
import type { Fault } from "../fault.ts"
import type { Rule } from "../network.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"

const LEASE_MS = 2_000

const passAll = async (world: World) => {
  for (const { network } of world.everybody()) network?.pass()
}

/** How long it takes until a call on a silent connection is given up. */
const SILENT = { seconds: 75, because: "a call on a silent connection is given up at its deadline of 45 s" }

const halfOpen: Fault = {
  id: "F15",
  title: "connections go silent and stay open",
  stage: { proxied: true, recover: SILENT },
  strikes: ["listeners silenced", "connections silenced"],
  inject: async (world, chance, signal) => {
    const everybody = [...world.workers(), ...world.producers()]
    const listeners = new Set<string>()
    const lines = new Set<string>()
    // First the listening connections, then a third of all others, each for good: new ones are fine.
    for (const { name, network } of everybody) {
      network?.obey((_message, _direction, line) => {
        if (!line.listens) return "pass"
        listeners.add(`${name}/${line.number}`)
        return "drop"
      })
    }
    await world.rest(2_000, signal)
    const chosen = chance.fork("lines")
    const silent = new Map<string, boolean>()
    for (const { name, network } of everybody) {
      const known = network?.lines() ?? 0
      network?.obey((_message, _direction, line) => {
        if (line.number >= known) return "pass"
        const id = `${name}/${line.number}`
        if (!silent.has(id)) silent.set(id, chosen.whether(0.34))
        if (!silent.get(id)) return "pass"
        lines.add(id)
        return "drop"
      })
    }
    await world.rest(60_000, signal)
    world.struck("listeners silenced", listeners.size)
    world.struck("connections silenced", lines.size)
  },
  heal: passAll,
}

/** Far longer than any lease, and shorter than it takes until a silent connection is given up. */
const NOTICE_MS = 20_000

/** By its own clock a lease is over when it has not been renewed for so long; a busy machine may add something. */
const TOLD_WITHIN_MS = LEASE_MS + 1_000

/** Cuts one worker off for a while, in one of the ways in which that happens. Says since when. */
async function partition(world: World, member: Member, chance: Chance, ms: number): Promise<bigint> {
  const { network } = member
  if (!network) throw new Error("there is no network to cut")
  const way = chance.pick(["held back", "turned away"] as const)
  if (way === "turned away") network.refuse()
  else network.hold("to server", "to client")
  const sinceNs = process.hrtime.bigint()
  const before = member.heard("lease.lost")
  await world.rest(ms)
  // By its own clock: no message can reach it.
  const isNoticed = await world.until(() => member.heard("lease.lost") > before, NOTICE_MS)
  if (!isNoticed)
    world.complain(
      violationText("I4", `${member.name} was cut off past its lease, and went on with its runs.`),
    )
  // After a while TCP has given up, or it has not.
  if (way === "held back" && chance.whether(0.5)) network.reset()
  network.pass()
  world.struck("partitions")
  return sinceNs
}

/** What each of them was at work on. */
const cutOff = new WeakMap<World, readonly Held[]>()

const partitioned: Fault = {
  id: "F16",
  title: "a worker is cut off for longer than its lease",
  stage: { proxied: true, recover: SILENT },
  strikes: ["partitions"],
  inject: async (world, chance, signal) => {
    const held: Held[] = []
    cutOff.set(world, held)
    do {
      const mine = await takeHold(world, [chance.pick(world.workers())])
      const atNs = await partition(world, mine.by, chance, 2 * LEASE_MS + chance.between(0, 1_000))
      held.push({ ...mine, cut: { atNs, withinMs: TOLD_WITHIN_MS } })
      await world.rest(500, signal)
    } while (!signal.aborted)
  },
  heal: passAll,
  expect: (world) => complaintsAboutHeld(world, cutOff.get(world) ?? []),
}

const oneWay: Fault = {
  id: "F17",
  title: "requests come through, answers do not",
  stage: { proxied: true, recover: SILENT },
  strikes: ["one-way partitions", "answers dropped"],
  inject: async (world, chance, signal) => {
    do {
      const { network } = chance.pick([...world.workers(), ...world.producers()])
      network?.obey((_message, direction) => (direction === "to client" ? "drop" : "pass"))
      await world.rest(LEASE_MS + chance.between(500, 1_500), signal)
      // The stream has a hole now, which no connection survives.
      network?.pass()
      network?.reset()
      world.struck("one-way partitions")
      await world.rest(300, signal)
    } while (!signal.aborted)
    for (const { network } of world.everybody()) world.struck("answers dropped", network?.counts.dropped ?? 0)
  },
  heal: passAll,
}

/** What the server says when something was written. */
const WRITTEN = /^(COMMIT|INSERT|UPDATE|DELETE|SELECT)/

/** How likely it is that the answer to a commit is lost, and to what commits by itself. */
interface Losses {
  readonly commits: number
  readonly others: number
}

/** Cuts the connection in place of the answer that says that it is done. */
function cutting(world: World, chance: Chance, { commits, others }: Losses): Rule {
  return (message, direction) => {
    if (direction !== "to client" || message.type !== "C") return "pass"
    const tag = textOf(message)
    if (!WRITTEN.test(tag) || !chance.whether(tag === "COMMIT" ? commits : others)) return "pass"
    world.struck(tag === "COMMIT" ? "commits whose answer was lost" : "other answers lost")
    return "cut"
  }
}

const lostCommits: Fault = {
  id: "F18",
  title: "it is committed, and the answer is lost",
  stage: { proxied: true },
  mustJudge: ["I3"],
  strikes: ["commits whose answer was lost"],
  inject: async (world, chance, signal) => {
    const lose = ({ name, network }: Member, losses: Losses) =>
      network?.obey(cutting(world, chance.fork(name), losses))
    for (const each of world.workers()) lose(each, { commits: 0.05, others: 0.02 })
    // What producers enqueue commits by itself, many runs at once: of fewer answers more must be lost.
    for (const each of world.producers()) lose(each, { commits: 0.05, others: 0.1 })
    await world.rest(60_000, signal)
  },
  heal: passAll,
}

/** As long as no process is silent for a whole lease, none may be taken for dead. */
const slow: Fault = {
  id: "F19",
  title: "every round trip takes up to two seconds",
  stage: { proxied: true, rate: 8, worker: { lease: "8s" } },
  strikes: ["round trips slowed down"],
  inject: async (world, chance, signal) => {
    for (const { name, network } of [...world.workers(), ...world.producers()]) {
      const own = chance.fork(name)
      // With every answer comes one message that says that the server is ready again.
      network?.obey(({ type }, direction) => {
        if (direction !== "to client" || type !== "Z") return "pass"
        world.struck("round trips slowed down")
        return own.between(200, own.whether(0.2) ? 2_000 : 500)
      })
    }
    await world.rest(60_000, signal)
  },
  heal: passAll,
  expect: (world, { statistics }) => [
    ...(world.heard("lease.lost") === 0 ? [] : ["A lease was lost although every answer came in time."]),
    ...(statistics.lost === 0
      ? []
      : [`${statistics.lost} runs were taken from workers that were only slow.`]),
  ],
}

export const network: readonly Fault[] = [halfOpen, partitioned, oneWay, lostCommits, slow]
