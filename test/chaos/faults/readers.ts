/** Sessions that hold old snapshots, read everything, or make the planner choose another plan. */
import { join } from "node:path"
import { readHistory } from "../../support/history/read-history.ts"
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault } from "../fault.ts"
import { complainIfSlower, slowRoundMs } from "../latency.ts"
import type { Chance } from "../seeded-random.ts"
import type { World } from "../world.ts"

/** As many as bring other queues to their knees. */
const DEAD_ROWS = 100_000
const LONGEST_MS = 90_000

const idleInTransaction: Fault = {
  id: "F22",
  ownLength: true,
  title: "a transaction is left open, and nothing dead can be removed",
  stage: { rate: 60, worker: { slots: 64 } },
  strikes: ["old snapshots", "dead rows"],
  inject: async (world) => {
    const before = await slowRoundMs(world)
    const ending = AbortSignal.timeout(LONGEST_MS)
    await world.talk.session(async (ask) => {
      await ask("begin isolation level repeatable read")
      await ask("select pg_current_xact_id(), count(*) from pg_class")
      world.struck("old snapshots")
      const [producer] = world.producers()
      let dead = 0
      // Runs that come and go, each of which leaves its dead rows behind.
      while (dead < DEAD_ROWS && !ending.aborted) {
        const items = Array.from({ length: 2_000 }, () => ({ input: {} }))
        await producer?.call("enqueueMany", { items })
        await world.until(async () => (await countOf(world, BACKLOG)) < 50, LONGEST_MS)
        dead = await countOf(world, DEAD)
      }
      world.struck("dead rows", dead)
      if (dead < DEAD_ROWS) world.complain(`Only ${dead} dead rows came about: the row shows nothing.`)
      complainIfSlower(world, before, await slowRoundMs(world))
    })
  },
}

/** Of another session than the one with the old snapshot, which would see what there was. */
const BACKLOG = "select count(*)::int as many from {s}.runs where stage = 'queued'"
const DEAD = `select coalesce(sum(n_dead_tup), 0)::int as many from pg_stat_user_tables
  where relid in ('{s}.runs'::regclass, '{s}.run_limits'::regclass, '{s}.keys'::regclass)`

async function countOf({ talk, schema }: World, text: string): Promise<number> {
  const [row] = await talk.ask(text.replaceAll("{s}", `"${schema}"`))
  return Number(row?.["many"])
}

/** What they read has to be worth reading. */
const LONG_ENOUGH_MS = 4_000

const READS = [
  "select job, outcome, count(*), avg(finished_at - started_at) from {s}.attempts group by 1, 2",
  "select count(*) from {s}.runs as r left join {s}.attempts as a on a.run = r.id",
  "select {s}.state(runs), count(*), min(due_at), max(enqueued_at) from {s}.runs group by 1",
  "select s.name, count(f.*) from {s}.schedules as s left join {s}.fires as f on f.schedule = s.id group by 1",
]

const analysts: Fault = {
  id: "F23",
  title: "four readers look at everything, again and again, in one snapshot each",
  strikes: ["readings"],
  inject: async (world, chance, signal) => {
    const before = await slowRoundMs(world)
    // For as long as it takes: how slow it is was asked first, and is asked again while they read.
    const reading = new AbortController()
    const read = (own: Chance) =>
      world.talk.session(async (ask) => {
        while (!reading.signal.aborted) {
          await ask("begin isolation level repeatable read read only")
          for (let many = 0; many < 10 && !reading.signal.aborted; many += 1) {
            await ask(own.pick(READS).replaceAll("{s}", `"${world.schema}"`))
            world.struck("readings")
            await world.rest(own.between(10, 100), reading.signal)
          }
          await ask("commit")
        }
      })
    const readers = ["one", "two", "three", "four"].map((name) => read(chance.fork(name)))
    await world.rest(LONG_ENOUGH_MS)
    while (!signal.aborted) await world.rest(LONG_ENOUGH_MS, signal)
    complainIfSlower(world, before, await slowRoundMs(world))
    reading.abort()
    await Promise.all(readers)
  },
}

const SETTINGS = [
  "enable_seqscan",
  "enable_indexscan",
  "enable_indexonlyscan",
  "enable_bitmapscan",
  "enable_nestloop",
  "enable_hashjoin",
  "enable_mergejoin",
  "enable_material",
  "enable_sort",
  "enable_memoize",
  "jit",
]

const planners: Fault = {
  id: "F27",
  title: "the planner is told to plan otherwise, and learns anew what is in the tables",
  strikes: ["changes of what the planner is told", "looks at runs under a limit"],
  inject: async (world, chance, signal) => {
    await Promise.all([flipPlans(world, chance, signal), watchLimited(world, signal)])
  },
  heal: async (world) => {
    await world.talk.ask("alter role carillon reset all")
  },
  expect: complaintsAboutSlots,
}

async function flipPlans(world: World, chance: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const setting of SETTINGS) {
      await world.talk.ask(`alter role carillon set ${setting} = ${chance.pick(["on", "off"])}`)
    }
    await world.talk.ask(
      `alter role carillon set plan_cache_mode = ${chance.pick(["auto", "force_generic_plan", "force_custom_plan"])}`,
    )
    await world.talk.ask(
      `analyze "${world.schema}".${chance.pick(["runs", "attempts", "schedules", "keys", "run_limits"])}`,
    )
    // Only new sessions think so.
    await world.talk.ask(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'carillon' and state = 'idle'",
    )
    world.struck("changes of what the planner is told")
    await world.rest(chance.between(400, 1_200), signal)
  }
}

/** How many runs of `single` may be at work at once, and how many slots each worker has. */
const CAP = 2
const SLOTS = 8

/** A plan that counts otherwise would take more of them: what is claimed is looked at, also what has not started. */
async function watchLimited(
  { talk, schema, rest, struck, complain }: World,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const [row] = await talk.ask(
      `select count(*)::int as many from "${schema}".runs where job = 'single' and lease is not null`,
    )
    const many = Number(row?.["many"])
    if (many > CAP) complain(violationText("I14", `${many} runs were claimed where ${CAP} may be.`))
    if (many > 0) struck("looks at runs under a limit")
    await rest(30, signal)
  }
}

/** A claim that brings more than was asked for would start them. A handler that was told to end may linger. */
function complaintsAboutSlots({ folder }: World): string[] {
  const atWork = new Map<number, Set<string>>()
  const said = new Map<number, number>()
  for (const entry of readHistory(join(folder, "history"))) {
    if (entry.op !== "effect" && entry.op !== "end" && entry.op !== "abort") continue
    const claims = atWork.get(entry.pid) ?? new Set()
    atWork.set(entry.pid, claims)
    if (entry.op === "effect") claims.add(`${entry.claim}`)
    else claims.delete(entry.claim)
    if (claims.size > SLOTS) said.set(entry.pid, Math.max(said.get(entry.pid) ?? 0, claims.size))
  }
  if (atWork.size === 0) return ["No handler was ever at work."]
  return [...said].map(([pid, many]) => `Process ${pid} had ${many} handlers at work in ${SLOTS} slots.`)
}

export const readers: readonly Fault[] = [idleInTransaction, analysts, planners]
