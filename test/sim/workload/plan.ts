/**
 * The plan of a seed: how many processes, which calls, and which faults how often.
 *
 * A swarm: each seed has some of the faults and some of the work, with rates of its own, so that rare meetings of two
 * faults are not drowned by all the others.
 */

import type { RetryAsked } from "../../support/history/operations.ts"
import { FATES, type Fate, type Network, PERFECT } from "../database/faults.ts"
import type { Chance } from "../kernel/seeded-random.ts"

/** What clients can ask for. */
export const REQUESTS = [
  "enqueue",
  "enqueue many",
  "enqueue in a transaction",
  "cancel",
  "expedite",
  "pause and resume",
  "replay",
  "discard",
  "wait for a result",
  "read",
  "schedules",
] as const
export type Request = (typeof REQUESTS)[number]

/** What can be said about a run when it is enqueued. */
export const TRAITS = [
  "delay",
  "priority",
  "key",
  "limit",
  "limit by key",
  "timeout",
  "start within",
  "other pool",
  "bury when lost",
  "settle now",
  "fails",
  "dies",
  "snoozes",
  "cancels itself",
  "stubborn",
  "own transaction",
  "enqueues another",
] as const
export type Trait = (typeof TRAITS)[number]

/** What befalls processes and the database as such. */
export interface Nemesis {
  readonly crashes: number
  /** How often a process dies at a crash point. */
  readonly crashPointRate: number
  /** How often a process is suspended there instead, past its lease: its next write comes too late. */
  readonly pausePointRate: number
  readonly pauses: number
  readonly hiccups: number
  readonly stops: number
  readonly cuts: number
  readonly outages: number
  readonly restarts: number
  readonly jumpsForward: number
  readonly jumpsBack: number
}

export interface Plan {
  readonly processes: number
  readonly leaseMs: number
  readonly slots: number
  readonly wakeups: boolean
  /** How wrong clocks are. */
  readonly skewed: boolean
  readonly faultyUs: number
  readonly network: Network
  readonly nemesis: Nemesis
  readonly clients: number
  readonly requests: readonly (readonly [Request, number])[]
  readonly traits: ReadonlySet<Trait>
  readonly traitRate: number
  readonly attempts: number
  /** How long a run waits after a failure. */
  readonly retry: RetryAsked
  /** The longest that a handler takes, mostly. */
  readonly handlerMs: number
  readonly restMs: number
  readonly cap: number
  readonly schedules: number
  /** One process alone works, and starts late: it has to start its backlog in order. */
  readonly latecomerUs: number | undefined
  /** A reader pages through history all the time. */
  readonly reader: boolean
  /** Bulk operations are started and steered. */
  readonly bulk: boolean
  /** At the end there is work in a quiet phase. */
  readonly peace: boolean
}

/** The faults that a lone worker is spared: those that would end its lease, and those that change the order. */
const CALM: Nemesis = {
  crashes: 0,
  crashPointRate: 0,
  pausePointRate: 0,
  pauses: 0,
  hiccups: 0,
  stops: 0,
  cuts: 0,
  outages: 0,
  restarts: 0,
  jumpsForward: 0,
  jumpsBack: 0,
}
const REORDERING: ReadonlySet<Request> = new Set<Request>(["expedite", "pause and resume"])

export function drawPlan(chance: Chance): Plan {
  const swarm = drawSwarm(chance)
  // A generator of its own: all other seeds stay as they are.
  const own = chance.fork("latecomer")
  const plan = own.happens(0.05) ? withLatecomer(swarm, own) : swarm
  // Stubborn handlers may still be in the slots. A worker that is to be alone under one lease is not stopped.
  const isPrompt = !plan.traits.has("stubborn") && plan.latecomerUs === undefined
  return {
    ...plan,
    retry: drawRetry(plan.retry, chance.fork("retry")),
    peace: isPrompt && chance.fork("peace").happens(0.3),
    reader: chance.fork("reader").happens(0.5),
    // They change the order.
    bulk: plan.latecomerUs === undefined && chance.fork("bulk").happens(0.4),
  }
}

/** The same wait each time, one from a list, or one that is drawn from a range that grows. */
function drawRetry(fixed: RetryAsked, chance: Chance): RetryAsked {
  if (chance.happens(0.4)) return fixed
  // Waits that differ by more than the checker overlooks.
  if (chance.happens(0.5))
    return {
      delaysMs: chance.pick([
        [20, 400],
        [900, 20, 300],
        [150, 600, 1_200, 10],
      ]),
    }
  return { baseMs: chance.pick([50, 300]), factor: chance.pick([1, 2, 3]), capMs: chance.pick([300, 1_500]) }
}

function withLatecomer(plan: Plan, chance: Chance): Plan {
  return {
    ...plan,
    nemesis: CALM,
    slots: chance.between(1, 2),
    restMs: 300,
    requests: [["enqueue", 6], ...plan.requests.filter(([request]) => !REORDERING.has(request))],
    traits: new Set([...plan.traits].filter((trait) => trait !== "bury when lost")),
    latecomerUs: chance.between(1_000_000, 3_000_000),
  }
}

function drawSwarm(chance: Chance): Plan {
  const some = <T>(items: readonly T[], rate: number) => items.filter(() => chance.happens(rate))
  const often = (rate: number, most: number) => (chance.happens(rate) ? chance.between(1, most) : 0)
  const requests = some(REQUESTS, 0.5).map((request) => [request, chance.between(1, 4)] as const)
  const hasSchedules = requests.some(([request]) => request === "schedules")
  return {
    processes: chance.pick([2, 2, 2, 3, 3, 4]),
    leaseMs: chance.pick([2_000, 4_000, 6_000, 10_000]),
    slots: chance.between(1, 5),
    wakeups: chance.happens(0.8),
    skewed: chance.happens(0.6),
    faultyUs: chance.between(3, 7) * 1_000_000,
    network: drawNetwork(chance),
    nemesis: {
      crashes: often(0.5, 4),
      crashPointRate: chance.happens(0.4) ? chance.skewed(0.002, 0.1) : 0,
      pausePointRate: chance.happens(0.5) ? chance.skewed(0.01, 0.2) : 0,
      pauses: often(0.3, 2),
      hiccups: often(0.3, 6),
      stops: often(0.3, 3),
      cuts: often(0.3, 2),
      outages: often(0.15, 2),
      restarts: often(0.15, 2),
      jumpsForward: often(0.15, 2),
      jumpsBack: often(0.1, 1),
    },
    clients: chance.happens(0.2) ? 2 : 1,
    // Without work there is nothing to check.
    requests: [["enqueue", 6], ...requests],
    traits: new Set(some(TRAITS, 0.4)),
    traitRate: chance.pick([0.2, 0.4, 0.7]),
    attempts: chance.between(2, 5),
    retry: { delayMs: chance.pick([20, 200, 1_000]) },
    handlerMs: chance.pick([5, 50, 400, 1_500, 4_000]),
    restMs: chance.pick([600, 1_200, 2_400]),
    cap: chance.between(1, 2),
    schedules: hasSchedules ? chance.between(1, 3) : 0,
    latecomerUs: undefined,
    peace: false,
    reader: false,
    bulk: false,
  }
}

function drawNetwork(chance: Chance): Network {
  // One seed in five has a perfect network: then no fault is the network's.
  if (chance.happens(0.2)) return PERFECT
  const rates: Partial<Record<Fate, number>> = {}
  const share = chance.pick([0.15, 0.3, 0.6])
  // Silence costs the caller its whole deadline, and the simulation most of its time.
  const isSilent = chance.happens(0.3)
  for (const fate of FATES) {
    if (fate.startsWith("silent") && !isSilent) continue
    const most = fate.startsWith("silent") ? 0.01 : 0.06
    if (chance.happens(share)) rates[fate] = chance.skewed(0.002, most)
  }
  const rate = () => (chance.happens(0.3) ? chance.next() : 0)
  return {
    rates,
    latencyUs: chance.pick([
      [100, 400],
      [100, 3_000],
      [200, 30_000],
    ]),
    notifications: { lost: rate(), twice: rate(), late: rate() },
    idleBreaks: chance.happens(0.3) ? chance.skewed(0.002, 0.05) : 0,
  }
}
