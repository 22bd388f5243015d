/** Clocks that are set: the server's between two starts and while it runs, and those of processes. */
import { renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { violationText } from "../../support/history/violation-text.ts"
import { type Clock, createClock, lacksFaketime } from "../clock.ts"
import type { Fault } from "../fault.ts"
import { type Guards, postGuards } from "../guards.ts"
import type { Planned } from "../schedules.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"
import { complaintsAboutExpiry } from "../wrong-expiry.ts"

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS
const DAY_MS = 24 * HOUR_MS

/** What goes by a clock that was set back meanwhile. Guards in the database judge it instead. */
const SET_BACK = "the server's clock was set back"
const UNJUDGED = { I10: SET_BACK, I11: SET_BACK, I21: SET_BACK, I28: SET_BACK }

const posts = new WeakMap<World, Guards>()

async function guardsOf(world: World): Promise<Guards> {
  const guards = posts.get(world) ?? (await postGuards(world))
  posts.set(world, guards)
  return guards
}

const STEP_MS = 90 * SECOND_MS
/** Two of them, and then some. */
const LEASES_MS = 5_000

/** By a standby that goes by a clock of its own; from then on that is the clock of the server. */
async function takeOver(world: World, guards: Guards, aheadMs: number): Promise<void> {
  const taken =
    (world.strikes.get("takeovers 90 s later") ?? 0) + (world.strikes.get("takeovers 90 s earlier") ?? 0)
  const file = join(world.folder, `standby-clock-${taken}`)
  const clock = createClock(file)
  clock.set(aheadMs)
  const { clock: ofServer } = world
  if (!ofServer) throw new Error("the server has no clock that can be set")
  await world.server.failOver(clock.env, () => {
    guards.setClock(aheadMs)
    symlinkSync(ofServer.file, `${file}.link`)
    renameSync(`${file}.link`, file)
  })
}

const betweenStarts: Fault = {
  id: "F40",
  title: "the server comes back, then a standby takes over, with the clock 90 s ahead, then 90 s behind that",
  needs: lacksFaketime,
  stage: { clock: true, unjudged: UNJUDGED, seconds: (asked) => Math.max(asked, 6) },
  strikes: ["starts 90 s later", "starts 90 s earlier", "takeovers 90 s later", "takeovers 90 s earlier"],
  inject: async (world, chance, signal) => {
    const guards = await guardsOf(world)
    const restart = async (aheadMs: number) => {
      await world.server.stop(chance.pick(["fast", "immediate"]))
      guards.setClock(aheadMs)
      await world.server.start()
    }
    do {
      await restart(STEP_MS)
      world.struck("starts 90 s later")
      await world.rest(chance.between(2_000, 3_000))
      await restart(0)
      world.struck("starts 90 s earlier")
      await world.rest(chance.between(1_000, 2_000))
      await takeOver(world, guards, STEP_MS)
      world.struck("takeovers 90 s later")
      await world.rest(chance.between(2_000, 3_000))
      await takeOver(world, guards, 0)
      world.struck("takeovers 90 s earlier")
      await world.rest(chance.between(1_000, 2_000), signal)
    } while (!signal.aborted)
    // For as long as a process needs that takes others for dead. One more step of the clock heals it.
    await world.rest(LEASES_MS)
    const blows = ["starts 90 s later", "takeovers 90 s later"].reduce(
      (sum, name) => sum + (world.strikes.get(name) ?? 0),
      0,
    )
    for (const complaint of complaintsAboutExpiry(world, blows)) world.complain(complaint)
  },
  // What was promised for later by the clock that was ahead is due again, at the latest.
  heal: async (world) => {
    if (!world.server.isUp()) await world.server.start()
    ;(await guardsOf(world)).setClock(STEP_MS)
  },
  expect: async (world) => (await guardsOf(world)).complaints(),
}

const EXTRA = { extra: fileURLToPath(new URL("clocks.mjs", import.meta.url)) }

/** Of a process that goes by a clock of its own; it says so itself. */
async function setOwnClock(world: World, member: Member, clock: Clock, aheadMs: number): Promise<void> {
  clock.set(aheadMs)
  const said = await member.call<number>("clock")
  if (Math.abs(said - Date.now() - aheadMs) > 10 * SECOND_MS)
    throw new Error(`${member.name} goes by ${new Date(said).toISOString()}: its clock was not set`)
  await member.call("clockOff", { ms: aheadMs })
  world.struck("jumps of a process's clock")
}

async function addSkewed(world: World, role: "worker" | "producer", name: string, aheadMs: number) {
  const clock = createClock(join(world.folder, `clock-${name}`))
  clock.set(aheadMs)
  const member = await world.add(role, { ...EXTRA, env: clock.env })
  await setOwnClock(world, member, clock, aheadMs)
  return { member, clock }
}

const skewed: Fault = {
  id: "F43",
  title: "the clocks of some processes are an hour off, and jump",
  needs: lacksFaketime,
  stage: { clock: true, workers: 2, seconds: (asked) => Math.max(asked, 6) },
  strikes: ["jumps of a process's clock", "runs by processes with wrong clocks"],
  mustJudge: ["I28"],
  inject: async (world, chance, signal) => {
    await guardsOf(world)
    const wrong = await Promise.all([
      addSkewed(world, "worker", "fast", HOUR_MS),
      addSkewed(world, "worker", "slow", -HOUR_MS),
      addSkewed(world, "producer", "wild", chance.pick([HOUR_MS, -HOUR_MS])),
    ])
    do {
      await world.rest(chance.between(300, 900), signal)
      const { member, clock } = chance.pick(wrong)
      await setOwnClock(world, member, clock, jump(chance))
    } while (!signal.aborted)
    for (const { member } of wrong) {
      const counts = await member.call<Record<string, number>>("ping")
      world.struck("runs by processes with wrong clocks", counts["attempt.finished"] ?? 0)
    }
  },
  expect: async (world) => [...(await (await guardsOf(world)).complaints()), ...(await traces(world))],
}

/** At least a minute off, so that it can be told from slowness. */
function jump(chance: Chance): number {
  return chance.pick([-1, 1]) * chance.between(60 * SECOND_MS, 2 * HOUR_MS)
}

/** Nothing that is written down lies where only a wrong clock can have put it. */
async function traces({ talk, schema }: World): Promise<string[]> {
  const rows = await talk.ask(
    `with bounds as (
       select clock_timestamp() as until,
         (select min(started_at) from "${schema}".workers) - interval '5 seconds' as since)
     select 'run ' || run as what from "${schema}".attempts, bounds
       where enqueued_at not between since and until or finished_at not between since and until
         or started_at not between since and until
     union all select 'schedule ' || f.schedule from "${schema}".fires as f, bounds
       where f.decided_at not between since and until
     union all select 'lease ' || lease from "${schema}".workers, bounds
       where expires_at > until + interval '1 minute' or started_at not between since and until
     limit 8`,
  )
  return rows.map(({ what }) => `A wrong clock shows in ${what}.`)
}

/** None of them would make a run of every second of a day, and two make several runs of it. */
const PATIENT: readonly Planned[] = [
  { name: "latest-1s", job: "tick", input: {}, every: "1s", misfire: "latest", overlap: "allow" },
  { name: "latest-cron", job: "tick", input: {}, cron: "* * * * * *", misfire: "latest", overlap: "skip" },
  { name: "within-1s", job: "tick", input: {}, every: "1s", misfire: { mode: "all", within: "3s", max: 2 } },
  { name: "skip-2s", job: "tick", input: {}, every: "2s", misfire: "skip", overlap: "allow" },
  { name: "collapse", job: "tock", input: { ms: 300 }, every: "1s", overlap: "collapse" },
  { name: "hourly", job: "tick", input: {}, cron: "0 * * * *", misfire: "all", overlap: "allow" },
  {
    name: "oslo",
    job: "tick",
    input: {},
    cron: "*/20 * * * *",
    timeZone: "Europe/Oslo",
    misfire: "all",
    overlap: "allow",
  },
]
/** How many runs each may make of a skipped day: none but its newest, or all of them. */
const RUNS_OF_A_DAY: Readonly<Record<string, readonly [least: number, most: number]>> = {
  "latest-1s": [0, 1],
  "latest-cron": [0, 1],
  "within-1s": [0, 2],
  "skip-2s": [0, 1],
  collapse: [0, 1],
  hourly: [23, 25],
  oslo: [71, 73],
}
const days = new WeakMap<World, { readonly fromMs: number; readonly toMs: number }[]>()

const whileRunning: Fault = {
  id: "F44",
  title: "the server's clock steps back by 30 s and forward by a day, while it runs",
  needs: lacksFaketime,
  stage: {
    clock: true,
    schedules: PATIENT,
    unjudged: UNJUDGED,
    seconds: (asked) => Math.max(asked, 8),
  },
  strikes: ["steps back by 30 s", "steps forward by 30 s", "steps forward by a day"],
  inject: async (world, chance, signal) => {
    const guards = await guardsOf(world)
    const passed: { fromMs: number; toMs: number }[] = []
    days.set(world, passed)
    let aheadMs = 0
    const step = async (byMs: number, what: string) => {
      aheadMs += byMs
      guards.setClock(aheadMs)
      world.struck(what)
      // Long enough after a step back that every process that had read the clock before has written its decision.
      await world.rest(byMs < 0 ? chance.between(4_000, 5_000) : chance.between(1_200, 2_000))
    }
    do {
      await step(-30 * SECOND_MS, "steps back by 30 s")
      await step(30 * SECOND_MS, "steps forward by 30 s")
      if (passed.length === 0) {
        const fromMs = Date.now() + aheadMs
        await step(DAY_MS, "steps forward by a day")
        passed.push({ fromMs, toMs: fromMs + DAY_MS })
      }
    } while (!signal.aborted)
  },
  expect: async (world) => [
    ...(await (await guardsOf(world)).complaints()),
    ...(await complaintsAboutDays(world)),
  ],
}

/** A skipped day is made up for as the policies say: by a few runs, not by one for each second. */
async function complaintsAboutDays(world: World): Promise<string[]> {
  const said: string[] = []
  for (const { fromMs, toMs } of days.get(world) ?? []) {
    const rows = await world.talk.ask(
      `select s.name, count(f.run) as made from "${world.schema}".schedules as s
       left join "${world.schema}".fires as f on f.schedule = s.id and f.outcome = 'fired'
         and f.occurrence > to_timestamp($1::float8 / 1000) + interval '2 seconds'
         and f.occurrence <= to_timestamp($2::float8 / 1000)
       group by s.name`,
      [fromMs, toMs],
    )
    for (const { name, made } of rows) {
      const [least = 0, most = 0] = RUNS_OF_A_DAY[String(name)] ?? []
      if (Number(made) < least || Number(made) > most)
        said.push(
          violationText(
            "I9",
            `${name} has made ${made} runs of a day that no process saw, not ${least} to ${most}.`,
          ),
        )
    }
  }
  return said
}

export const clocks: readonly Fault[] = [betweenStarts, skewed, whileRunning]
