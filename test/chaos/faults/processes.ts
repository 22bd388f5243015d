/** Processes that are killed or suspended. */
import { CRASH_POINTS, type CrashPoint } from "../../../src/runtime/crash-points.ts"
import { complaintsAboutHeld, type Held, takeHold } from "../cut-off-runs.ts"
import type { Fault } from "../fault.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"

const LEASE_MS = 2_000

const AT_WORK_MS = 10_000

/** A worker that holds a run at this moment, as the database knows it; any worker, if none does for long. */
async function anyoneAtWork(world: World, chance: Chance): Promise<Member> {
  let busy: Member[] = []
  await world.until(async () => {
    const rows = await world.talk.ask(
      `select distinct pid from ${world.schema}.runs join ${world.schema}.workers using (lease)`,
    )
    const pids = new Set(rows.map(({ pid }) => Number(pid)))
    busy = world.workers().filter((worker) => pids.has(worker.pid))
    return busy.length > 0
  }, AT_WORK_MS)
  return chance.pick(busy.length > 0 ? busy : world.workers())
}

const killedWorkers: Fault = {
  id: "F1",
  title: "a worker is killed in the middle of its work",
  strikes: ["kills"],
  inject: async (world, chance, signal) => {
    // A slow machine gets to it once at least.
    do {
      await world.rest(chance.between(300, 1_500), signal)
      const victim = await anyoneAtWork(world, chance)
      await world.kill(victim)
      world.struck("kills")
      await world.replace(victim)
    } while (!signal.aborted)
  },
  expect: (_world, { statistics }) =>
    statistics.lost > 0 ? [] : ["No run was lost with its worker: the kills hit nothing."],
}

/** The processes that come to this point: those that enqueue and cancel, or those that work. */
const BY_PRODUCERS: readonly CrashPoint[] = ["enqueue.written", "cancel.written", "backfill.committed"]
/** Made before there is any load. */
const TOO_EARLY: readonly CrashPoint[] = ["migrate.applied"]
const POINTS = CRASH_POINTS.filter((point) => !TOO_EARLY.includes(point))

/** Only the first process comes to some points. */
const PATIENCE_MS = 40_000

const diedBetween: Fault = {
  id: "F2",
  title: "a process dies between two steps that belong together, at every such place but that of migrations",
  stage: { seconds: (asked) => Math.max(asked, 6) },
  strikes: POINTS.map((point) => `at ${point}`),
  inject: async (world, chance, signal) => {
    const die = async (point: CrashPoint) => {
      const role = BY_PRODUCERS.includes(point) ? "producer" : "worker"
      const crashAt = { point, time: chance.between(1, 3) }
      const mortal = await world.add(role, { mayDie: true, crashAt })
      // No other process dies for the one that is to take over, and no other asks for the past.
      const helping = new AbortController()
      const help = helpTo(world, point, mortal, helping.signal)
      const how = await Promise.race([mortal.ended, world.rest(PATIENCE_MS)])
      helping.abort()
      await help
      if (how === "SIGKILL") world.struck(`at ${point}`)
      else await world.kill(mortal)
    }
    do {
      // A few at a time, so that the living can carry the load.
      for (let first = 0; first < POINTS.length; first += 4) {
        await Promise.all(POINTS.slice(first, first + 4).map(die))
      }
    } while (!signal.aborted)
  },
}

/** Some points are reached only when another process is in need. */
async function helpTo(world: World, point: CrashPoint, mortal: Member, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && mortal.isUp()) {
    if (point === "reap.marked") {
      // The others reap too: the mortal process must be the first one, once.
      const victim = await world.add("worker", { lease: "1s", slots: 1 }).catch(() => undefined)
      if (victim) await world.kill(victim)
    } else if (point === "backfill.committed") {
      await mortal.call("backfill", { schedule: "all-cron", minutes: 12 }).catch(() => {})
    }
    await world.rest(500, signal)
  }
}

/** What each sleeper was at work on. */
const asleep = new WeakMap<World, readonly Held[]>()

const pausedWorkers: Fault = {
  id: "F3",
  title: "a worker sleeps past its lease and wakes up",
  stage: { seconds: (asked) => Math.max(asked, 5) },
  strikes: ["pauses past the lease", "short pauses"],
  inject: async (world, chance, signal) => {
    // The longest-lived one stays awake: one worker has to take over.
    const [, ...sleepers] = world.workers()
    const held: Held[] = []
    asleep.set(world, held)
    const doze = async (ms: number, what: string) => {
      const mine = await takeHold(world, sleepers)
      await sleepFor(world, mine.by, ms)
      world.struck(what)
      return mine
    }
    while (!signal.aborted) {
      await doze(chance.between(100, LEASE_MS / 2), "short pauses")
      held.push(await doze(LEASE_MS + chance.between(2_000, 3_000), "pauses past the lease"))
    }
  },
  heal: wakeAll,
  expect: async (world) => [
    ...(await complaintsAboutHeld(world, asleep.get(world) ?? [])),
    ...(world.heard("lease.lost") > 0 ? [] : ["No sleeper noticed that its lease was lost."]),
  ],
}

const SETTLING = /insert into\s+"?\w+"?\."?attempts/i

const NAPS = [
  { ms: 300, what: "short pauses while settling" },
  { ms: LEASE_MS + 2_500, what: "pauses past the lease while settling" },
] as const
const SETTLE_MS = 20_000

/** The request is on its way, the answer comes to a suspended process. */
const pausedWhileSettling: Fault = {
  id: "F4",
  title: "a worker falls asleep while its result is on the way",
  stage: { proxied: true, seconds: (asked) => Math.max(asked, 6) },
  strikes: NAPS.map(({ what }) => what),
  inject: async (world, chance, signal) => {
    const [, ...sleepers] = world.workers()
    do {
      // Each of them every time.
      for (const { ms, what } of NAPS) {
        const sleeper = chance.pick(sleepers)
        if (!(await stopAtSettle(world, sleeper))) return
        await world.rest(ms)
        sleeper.signal("SIGCONT")
        world.struck(what)
        await world.rest(500)
      }
    } while (!signal.aborted)
  },
  heal: wakeAll,
  expect: (world) => (world.heard("lease.lost") > 0 ? [] : ["No sleeper noticed that its lease was lost."]),
}

/** Stops it when a result of its has been sent; whether it sent one in time. */
async function stopAtSettle(world: World, { network, signal }: Member): Promise<boolean> {
  const isAsleep = new Promise<boolean>((resolve) => {
    network?.obey((_message, direction, line) => {
      if (direction === "to server" && SETTLING.test(line.statement)) {
        signal("SIGSTOP")
        resolve(true)
      }
      return "pass"
    })
  })
  const isInTime = await Promise.race([isAsleep, world.rest(SETTLE_MS).then(() => false)])
  network?.pass()
  return isInTime
}

async function sleepFor(world: World, sleeper: Member, ms: number): Promise<void> {
  sleeper.signal("SIGSTOP")
  try {
    await world.rest(ms)
  } finally {
    sleeper.signal("SIGCONT")
  }
}

async function wakeAll(world: World): Promise<void> {
  for (const worker of world.workers()) worker.signal("SIGCONT")
}

export const processes: readonly Fault[] = [killedWorkers, diedBetween, pausedWorkers, pausedWhileSettling]
