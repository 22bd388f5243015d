/** Schedulers: two, then ten of them, killed anywhere in a tick. */
import { CRASH_POINTS } from "../../../src/runtime/crash-points.ts"
import type { Fault } from "../fault.ts"
import { SCHEDULES } from "../schedules.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"

const POINTS: readonly string[] = CRASH_POINTS.filter((point) => point.startsWith("schedule."))
/** Between those points, by the messages on the wire: a tick is writing, or its commit is in flight. */
const ON_THE_WIRE = ["writing", "committing"] as const
const DEATHS = [...POINTS, ...ON_THE_WIRE]
/** With so many of them on a small machine, a slow one must not be taken for dead. */
const SMALL = { slots: 4, lease: "6s" }
/** Among so many it may take a while until it is the one that comes first. */
const PATIENCE_MS = 20_000

const crowd: Fault = {
  id: "F46",
  title: "two schedulers, then ten, killed between any two steps of a tick",
  stage: {
    proxied: true,
    workers: 2,
    worker: SMALL,
    rate: 10,
    // This is about occurrences: those whose runs take long would only stand in line.
    schedules: SCHEDULES.filter(({ job }) => job === "tick"),
    seconds: (asked) => Math.max(asked, 5),
  },
  strikes: ["deaths of one of two", "deaths of one of ten", ...DEATHS.map((point) => `at ${point}`)],
  inject: async (world, chance, signal) => {
    // Two are there, one of which dies, wherever chance will have it; its place is taken by the next to die.
    const [first] = world.workers()
    if (first) await world.kill(first)
    for (const point of [chance.pick(POINTS), chance.pick(ON_THE_WIRE)])
      await dieAt(world, chance, point, "deaths of one of two")
    await Promise.all(Array.from({ length: 3 }, () => world.add("worker", SMALL)))
    // Four that stay, and six that die each in its own way.
    do await Promise.all(DEATHS.map((point) => dieAt(world, chance, point, "deaths of one of ten")))
    while (!signal.aborted)
  },
}

async function dieAt(world: World, chance: Chance, point: string, what: string): Promise<void> {
  const time = chance.between(1, 2)
  const isCrashPoint = POINTS.includes(point)
  const mortal = await world.add("worker", {
    ...SMALL,
    mayDie: true,
    ...(isCrashPoint && { crashAt: { point, time } }),
  })
  if (!isCrashPoint) dieOnTheWire(mortal, point, time)
  const how = await Promise.race([mortal.ended, world.rest(PATIENCE_MS)])
  if (how !== "SIGKILL") return world.kill(mortal)
  world.struck(what)
  world.struck(`at ${point}`)
}

const FIRING = /insert into\s+"?\w+"?\."?fires/i

/** The statement arrives; the answer is lost. */
function dieOnTheWire({ network, signal }: Member, point: string, time: number): void {
  const firing = new Set<number>()
  let met = 0
  network?.obey(({ type }, direction, { number, statement }) => {
    // A statement is bound or asked for once, whatever else is said about it.
    if (direction === "to client" || (type !== "B" && type !== "Q")) return "pass"
    const isFiring = FIRING.test(statement)
    const isCommitting = /^\s*commit/i.test(statement) && firing.delete(number)
    if (isFiring) firing.add(number)
    if (point === "writing" ? isFiring : isCommitting) {
      met += 1
      if (met === time) signal("SIGKILL")
    }
    return "pass"
  })
}

export const schedulers: readonly Fault[] = [crowd]
