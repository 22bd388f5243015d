/** Handlers as they must not be: they block, take memory, poison, exit, and hold what others need. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readHistory } from "../../support/history/read-history.ts"
import { violationText } from "../../support/history/violation-text.ts"
import { type Cgroup, lacksCgroup, makeCgroup } from "../cgroup.ts"
import type { Fault } from "../fault.ts"
import { RECOVER_MS } from "../recovery.ts"
import type { Member, World } from "../world.ts"

const EXTRA = { extra: fileURLToPath(new URL("handlers.mjs", import.meta.url)) }
const LEASE_MS = 2_000
/** Served only by workers that may die of it. */
const MORTAL = { ...EXTRA, pools: { default: 8, mortal: 2 } }

/** They serve nothing else: the heartbeat thread speaks for a process as long as the longest timeout of its runs. */
const BLOCKED = { ...EXTRA, pools: { blocked: 1 } }
const SHORT = { leases: 2, what: "blocks of two leases" }
/**
 * The heartbeat thread speaks for a silent process for at most three leases. After the fourth the lease is dead, and
 * a reaper soon sees that.
 */
const LONG = { leases: 7, what: "blocks of seven leases" }

const blocked: Fault = {
  id: "F5",
  title: "a handler blocks its process for longer than the lease",
  stage: { worker: EXTRA, producer: EXTRA, seconds: (asked) => Math.max(asked, 9) },
  strikes: [SHORT.what, LONG.what],
  inject: async (world, _chance, signal) => {
    const [producer] = world.producers()
    // One worker that blocks, and one that takes over.
    for (const _ of [1, 2]) await world.add("worker", BLOCKED)
    for (const { leases, what } of [SHORT, LONG]) {
      const ms = leases * LEASE_MS
      const run = await producer?.call<string>("enqueue", { job: "blocker", input: { ms } })
      const began = performance.now()
      const isDone = async () =>
        (await world.talk.ask(`select 1 from "${world.schema}".runs where id = $1`, [run])).length === 0
      await world.until(isDone, ms + RECOVER_MS)
      // A blocked worker has to report once more.
      await world.rest(Math.max(0, began + ms + LEASE_MS - performance.now()))
      world.struck(what)
    }
    await world.rest(60_000, signal)
  },
  expect: async (world) => [
    ...(await complaintsAboutBlocked(world)),
    ...(world.heard("worker.blocked") > 0 ? [] : ["No process said that it had been blocked."]),
  ],
}

/**
 * A worker that was blocked for long loses its run once, and is refused; a short block costs nothing. Each run
 * succeeds once.
 */
async function complaintsAboutBlocked(world: World): Promise<string[]> {
  const rows = await world.talk.ask(
    `select run, claim::text as claim, (input->>'ms')::int as ms, outcome, run_state as state
     from "${world.schema}".attempts where job = 'blocker' order by run, finished_at`,
  )
  const refused = readHistory(join(world.folder, "history")).filter(({ op }) => op === "fenced")
  const longMs = LONG.leases * LEASE_MS
  const long = rows.find(({ ms }) => ms === longMs)?.["run"]
  const [ofLong, ofShort] = [true, false].map((isLong) => rows.filter(({ run }) => (run === long) === isLong))
  const storyOf = (attempts: typeof rows = []) =>
    attempts.map(({ outcome, state }) => (state === null ? outcome : `${outcome} as ${state}`)).join(", ")
  const lost = ofLong?.find(({ outcome }) => outcome === "lost")
  const isRefused = refused.some(
    (entry) => entry.op === "fenced" && entry.run === lost?.["run"] && entry.claim === lost["claim"],
  )
  return [
    ...(storyOf(ofShort) === "succeeded as succeeded"
      ? []
      : [`The short block was told as: ${storyOf(ofShort)}.`]),
    ...(storyOf(ofLong) === "lost, succeeded as succeeded"
      ? []
      : [`The long block was told as: ${storyOf(ofLong)}.`]),
    ...(isRefused
      ? []
      : [violationText("I5", "who was blocked for long had something to say, and was not refused.")]),
  ]
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

/** A mortal worker serves the pool of the deadly runs, until all of them are buried; a dead worker is replaced. */
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
  ownLength: true,
  title: "a handler eats all the memory that its process may have",
  needs: () => lacksCgroup("memory"),
  stage: { producer: EXTRA, worker: { ...EXTRA, pools: { default: 8 } }, seconds: () => 60 },
  strikes: ["deaths of hunger"],
  inject: async (world) => {
    const group = makeCgroup({ memory: 220 * 1_024 * 1_024 })
    const [producer] = world.producers()
    try {
      await producer?.call("enqueue", { job: "glutton" })
      await dieUntilBuried(world, "glutton", ({ pid }) => group.add(pid))
      world.struck("deaths of hunger", group.kills())
    } finally {
      group.remove([])
    }
  },
  expect: async (world) => [
    ...(await buriedAs(world, "glutton", ["dead"])),
    ...(await innocents(world, "glutton")),
  ],
}

const AFTERWARDS = "processes ended by a rejection after the handler had returned"
const LATE_MS = 20_000

const exits: Fault = {
  id: "F9",
  ownLength: true,
  title: "a handler ends its process, or makes it crash",
  stage: { producer: EXTRA, worker: { ...EXTRA, pools: { default: 8 } }, seconds: () => 60 },
  strikes: ["processes ended by their handlers", AFTERWARDS],
  inject: async (world) => {
    const [producer] = world.producers()
    // By itself: beside the others it would be lost with them.
    await producer?.call("enqueue", { job: "exiter", input: { how: "after" } })
    const late = await world.add("worker", { ...MORTAL, mayExit: true })
    const how = await Promise.race([late.ended, world.rest(LATE_MS)])
    if (how !== undefined && how !== 0) world.struck(AFTERWARDS, late.heard("rejected.late"))
    for (const how of ["exit", "throw", "reject"])
      await producer?.call("enqueue", { job: "exiter", input: { how } })
    world.struck("processes ended by their handlers", await dieUntilBuried(world, "exiter", () => {}))
  },
  expect: async (world) => [
    ...(await buriedAs(world, "exiter", ["dead"], "input->>'how' <> 'after'")),
    ...(await buriedAs(world, "exiter", ["succeeded"], "input->>'how' = 'after'")),
    ...(await complaintsAboutLate(world)),
    ...(await innocents(world, "exiter")),
  ],
}

/** Runs that had ended when their process died stayed as they were: once, and none was lost. */
async function complaintsAboutLate({ talk, schema }: World): Promise<string[]> {
  const rows = await talk.ask(
    `select outcome from "${schema}".attempts where run in (
       select run from "${schema}".attempts where job = 'exiter' and input->>'how' = 'after')`,
  )
  const outcomes = rows.map(({ outcome }) => outcome).join(", ")
  return outcomes === "succeeded"
    ? []
    : [`What was rejected after the handler had returned made it ${outcomes}.`]
}

async function buriedAs(
  world: World,
  job: string,
  ends: readonly string[],
  which = "true",
): Promise<string[]> {
  const rows = await world.talk.ask(
    `select input::text as input, run_state from "${world.schema}".attempts where job = $1 and ` +
      `run_state is not null and ${which}`,
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
