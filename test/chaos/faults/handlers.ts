/** Handlers that nobody should write: they block, eat, poison, exit, and hold on to what others need. */
import { fileURLToPath } from "node:url"
import { type Cgroup, lacksCgroup, makeCgroup } from "../cgroup.ts"
import type { Fault } from "../fault.ts"
import type { Member, World } from "../world.ts"

const EXTRA = { extra: fileURLToPath(new URL("handlers.mjs", import.meta.url)) }
const LEASE_MS = 2_000
/** Served by those who may die of it, and by nobody else. */
const MORTAL = { ...EXTRA, pools: { default: 8, mortal: 2 } }

const blocked: Fault = {
  id: "F5",
  title: "a handler blocks its process for longer than the lease",
  stage: { worker: EXTRA, producer: EXTRA, seconds: (asked) => Math.max(asked, 9) },
  strikes: ["blocks of two leases", "blocks of four leases"],
  inject: async (world, chance, signal) => {
    const [producer] = world.producers()
    // The second is longer than anybody speaks for a process that gives no sign.
    for (const [leases, what] of [
      [2, "blocks of two leases"],
      [4, "blocks of four leases"],
    ] as const) {
      await producer?.call("enqueue", {
        job: "blocker",
        input: { ms: leases * LEASE_MS },
        settings: { tags: [`${leases}`] },
      })
      world.struck(what)
      await world.rest(chance.between(500, 1_000))
    }
    await world.rest(60_000, signal)
  },
  expect: async (world) => {
    const rows = await world.talk.ask(
      `select input->>'ms' as ms, outcome, run_state from "${world.schema}".attempts where job = 'blocker'`,
    )
    const lost = rows.filter(({ outcome }) => outcome === "lost").length
    const ends = rows.flatMap(({ run_state: state }) => (state === null ? [] : [String(state)]))
    return [
      ...(ends.every((end) => end === "succeeded") && ends.length === 2
        ? []
        : [`Blocking runs ended as ${ends.join(", ")}.`]),
      ...(lost <= 1 ? [] : [`${lost} blocking attempts were lost: only the longer one had to be.`]),
      ...(world.heard("worker.blocked") > 0 ? [] : ["No process said that it had been blocked."]),
    ]
  },
}

const starving: { group?: Cgroup } = {}

const starved: Fault = {
  id: "F6",
  title: "a worker gets a twentieth of a processor",
  needs: () => lacksCgroup("cpu"),
  strikes: ["periods without a processor"],
  inject: async (world, chance, signal) => {
    const group = makeCgroup({ cpu: 0.05 })
    starving.group = group
    group.add(chance.pick(world.workers()).pid)
    await world.rest(60_000, signal)
    const throttled = /nr_throttled (\d+)/.exec(group.read("cpu.stat"))?.[1]
    world.struck("periods without a processor", Number(throttled))
  },
  heal: async (world) => {
    starving.group?.remove(world.workers().map(({ pid }) => pid))
  },
}

/** One who may die serves the pool of the deadly, until all of them are buried; whoever dies has a successor. */
async function dieUntilBuried(world: World, job: string, prepare: (member: Member) => void): Promise<number> {
  const [table, untilMs] = [`"${world.schema}".runs`, performance.now() + 60_000]
  for (let deaths = 0; ; deaths += 1) {
    const mortal = await world.add("worker", { ...MORTAL, mayDie: true, mayExit: true })
    prepare(mortal)
    const buried = world.until(async () => {
      const [row] = await world.talk.ask(`select count(*)::int as many from ${table} where job = $1`, [job])
      return row?.["many"] === 0 || !mortal.isUp() || performance.now() > untilMs
    }, 60_000)
    await Promise.race([mortal.ended, buried])
    if (!mortal.isUp()) continue
    await world.kill(mortal)
    return deaths
  }
}

/** The first loss of a run is free, and those that were charged had started when their process died. */
async function innocents(world: World, culprit: string): Promise<string[]> {
  const rows = await world.talk.ask(
    `select run from "${world.schema}".attempts where job <> $1 and outcome = 'lost'
     group by run having bool_and(charged)`,
    [culprit],
  )
  return rows.map(({ run }) => `Run ${run} was charged for the first loss that it had beside a ${culprit}.`)
}

const outOfMemory: Fault = {
  id: "F7",
  title: "a handler eats all the memory that its process may have",
  needs: () => lacksCgroup("memory"),
  stage: { producer: EXTRA, worker: { ...EXTRA, pools: { default: 8 } }, seconds: () => 60 },
  strikes: ["deaths of hunger"],
  inject: async (world) => {
    const group = makeCgroup({ memory: 220 * 1_024 * 1_024 })
    const [producer] = world.producers()
    try {
      await producer?.call("enqueue", { job: "glutton" })
      const deaths = await dieUntilBuried(world, "glutton", ({ pid }) => group.add(pid))
      world.struck("deaths of hunger", deaths)
    } finally {
      group.remove([])
    }
  },
  expect: async (world) => [
    ...(await buriedAs(world, "glutton", ["dead"])),
    ...(await innocents(world, "glutton")),
  ],
}

const exits: Fault = {
  id: "F9",
  title: "a handler ends its process, or makes it crash",
  stage: { producer: EXTRA, worker: { ...EXTRA, pools: { default: 8 } }, seconds: () => 60 },
  strikes: ["processes ended by their handlers"],
  inject: async (world) => {
    const [producer] = world.producers()
    for (const how of ["exit", "throw", "reject"])
      await producer?.call("enqueue", { job: "exiter", input: { how } })
    world.struck("processes ended by their handlers", await dieUntilBuried(world, "exiter", () => {}))
  },
  expect: async (world) => [
    ...(await buriedAs(world, "exiter", ["dead"])),
    ...(await innocents(world, "exiter")),
  ],
}

async function buriedAs(world: World, job: string, ends: readonly string[]): Promise<string[]> {
  const rows = await world.talk.ask(
    `select input::text as input, run_state from "${world.schema}".attempts where job = $1 and run_state is not null`,
    [job],
  )
  if (rows.length === 0) return [`No ${job} has come to an end.`]
  return rows.flatMap(({ input, run_state: state }) =>
    ends.includes(String(state)) ? [] : [`The ${job} ${input} ended as ${state}.`],
  )
}

const poisonous: Fault = {
  id: "F8",
  title: "inputs, errors and results that cannot be read or written",
  stage: { worker: EXTRA, producer: EXTRA },
  strikes: ["poisons"],
  inject: async (world, chance, signal) => {
    const [producer] = world.producers()
    const kinds = (await producer?.call<string[]>("poisons")) ?? []
    do {
      for (const kind of kinds) await producer?.call("enqueue", { job: "poison", input: { kind } })
      for (const how of ["throw", "issues"]) await producer?.call("enqueue", { job: "picky", input: { how } })
      world.struck("poisons", kinds.length + 2)
      await world.rest(chance.between(100, 1_000), signal)
    } while (!signal.aborted)
  },
  expect: async (world) => {
    const lost = await world.talk.ask(
      `select distinct input->>'kind' as kind, outcome from "${world.schema}".attempts
       where job in ('poison', 'picky') and outcome not in ('succeeded', 'failed')`,
    )
    const dead = await buriedAs(world, "picky", ["dead"])
    return [...lost.map(({ kind, outcome }) => `The poison ${kind} made an attempt ${outcome}.`), ...dead]
  },
}

const hogs: Fault = {
  id: "F21",
  title: "handlers hold every connection that they may have",
  stage: {
    worker: { ...EXTRA, slots: 24 },
    producer: EXTRA,
    server: { settings: { max_connections: "300" } },
  },
  strikes: ["transactions held"],
  inject: async (world, chance, signal) => {
    const [producer] = world.producers()
    while (!signal.aborted) {
      const items = Array.from({ length: 40 }, () => ({ input: { ms: chance.between(1_000, 2_500) } }))
      await producer?.call("enqueueMany", { job: "hog", items })
      await world.rest(1_500, signal)
      const [row] = await world.talk.ask(
        "select count(*)::int as many from pg_stat_activity where state = 'idle in transaction'",
      )
      world.struck("transactions held", Number(row?.["many"]))
    }
  },
  expect: (world, { statistics }) => [
    ...(world.heard("lease.lost") === 0 ? [] : ["A lease was lost: its renewal had to wait for handlers."]),
    ...(statistics.lost === 0 ? [] : [`${statistics.lost} runs were lost although no process died.`]),
  ],
}

export const handlers: readonly Fault[] = [blocked, starved, outOfMemory, poisonous, exits, hogs]
