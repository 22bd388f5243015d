/** What clients do to schedules: they create some, change them, pause them and ask for their next times. */
import type { ScheduleOptions } from "../../../src/api/schedules/options.ts"
import { CarillonError, DatabaseError, OptionsError } from "../../../src/errors.ts"
import type { Job } from "../../../src/job/define.ts"
import type { MisfireOption } from "../../../src/job/schedule-policy.ts"
import type { ScheduleSpec } from "../../../src/schedule/spec.ts"
import type { Chance } from "../kernel/seeded-random.ts"
import type { Life } from "../world/process.ts"
import { drawTask, type Task } from "./jobs.ts"
import type { Plan } from "./plan.ts"

const AGAIN_MS = 200
/** No schedule has more times than this one. */
const DENSE: ScheduleSpec = { every: "1s" }
const LATEST_WITHIN: MisfireOption = { mode: "latest", within: "2s" }
const ALL_WITHIN: MisfireOption = { mode: "all", within: "4s", max: 2 }
/** Each mode as often as the others, and one in six of those that make up for anything within bounds. */
const MISFIRES: readonly MisfireOption[] = [
  ...Array<MisfireOption>(5).fill("latest"),
  LATEST_WITHIN,
  ...Array<MisfireOption>(6).fill("skip"),
  ...Array<MisfireOption>(5).fill("all"),
  ALL_WITHIN,
]
const BY = { actor: "client", reason: "as the seed says" }

export const SCHEDULE_REQUESTS = [
  "put",
  "pause",
  "resume",
  "skip next",
  "run now",
  "backfill",
  "cancel",
  "delete",
  "planned",
] as const
export type ScheduleRequest = (typeof SCHEDULE_REQUESTS)[number]

/** More often the first ones: a schedule that is gone makes no more trouble. */
const WEIGHTS: Readonly<Record<ScheduleRequest, number>> = {
  put: 3,
  pause: 3,
  resume: 4,
  "skip next": 2,
  "run now": 2,
  backfill: 1,
  cancel: 0.3,
  delete: 0.3,
  planned: 1,
}

/** Changes or reads one of the schedules. */
export async function askAboutSchedules(plan: Plan, life: Life): Promise<void> {
  const { carillon, chance, host, record } = life
  const { schedules } = carillon
  const name = `schedule ${chance.between(1, plan.schedules)}`
  switch (drawRequest(chance)) {
    case "put":
      return put(plan, life, name)
    case "pause":
      if (await schedules.pause(name, BY)) record("sched_pause", { schedule: name })
      if (chance.happens(0.5)) return
      // Long enough for some occurrences.
      await host.sleep(chance.between(500, 3_000))
      return resume(life, name)
    case "resume":
      return resume(life, name)
    case "skip next":
      await schedules.skipNext(name, BY)
      // Other times, mostly more than before, while the skipped occurrence is still to come.
      if (chance.happens(0.6)) await put(plan, life, name, chance.happens(0.7) ? DENSE : drawTimes(chance))
      return
    case "run now":
      await schedules.runNow(name, { ...BY, ...(chance.happens(0.3) && { overlap: "allow" as const }) })
      return
    case "backfill": {
      const found = await schedules.get(name)
      // A schedule that counts from the end of its last run has no past to make up for.
      if (!found || "afterCompletion" in found.spec) return
      const to = new Date(found.createdAt.getTime() - chance.between(0, 5_000))
      await schedules
        .backfill(name, { ...BY, from: new Date(to.getTime() - 4_000), to })
        .catch((error: unknown) => {
          // By a clock that was set back, and by no other, even its making may be to come.
          const isTooSoon = error instanceof OptionsError && error.faults.some(({ path }) => path === "to")
          if (!isTooSoon || plan.nemesis.jumpsBack === 0) throw error
        })
      return
    }
    case "cancel":
      await schedules.cancel(name, { ...BY, cancelQueued: chance.happens(0.5) })
      return
    case "delete":
      await schedules.delete(name, BY)
      return
    case "planned":
      await Promise.all([schedules.planned(name), schedules.fires(name), schedules.list()])
  }
}

async function resume({ carillon, chance, record }: Life, name: string): Promise<void> {
  const misfire = chance.happens(0.3) ? chance.pick(["latest", "all"] as const) : undefined
  if (await carillon.schedules.resume(name, { ...BY, ...(misfire && { misfire }) })) {
    record("sched_resume", { schedule: name })
  }
}

async function put(plan: Plan, life: Life, name: string, when = drawTimes(life.chance)): Promise<void> {
  const { schedule } = await life.carillon.schedules.put(drawSchedule(plan, life, name, when), BY)
  life.record("sched_put", { schedule: name, version: schedule.version })
}

/** Makes those that there are to be, however often it takes. */
export async function makeSchedules(plan: Plan, life: Life): Promise<void> {
  for (let number = 1; number <= plan.schedules; ) {
    try {
      await put(plan, life, `schedule ${number}`)
      number += 1
    } catch (error) {
      // The create took effect without an answer, and a client has cancelled the schedule since.
      if (isOver(error)) number += 1
      else if (error instanceof DatabaseError) await life.host.sleep(AGAIN_MS)
      else throw error
    }
  }
}

function drawRequest(chance: Chance): ScheduleRequest {
  let left = chance.next() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)
  return SCHEDULE_REQUESTS.find((request) => {
    left -= WEIGHTS[request]
    return left < 0
  }) as ScheduleRequest
}

function drawTimes(chance: Chance): ScheduleSpec {
  return chance.pick<ScheduleSpec>([
    { every: chance.pick(["1s", "2s", "3s"]) },
    { every: "2s", offset: "500ms" },
    { cron: chance.pick(["* * * * * *", "*/2 * * * * *", "*/3 * * * * *"]) },
    { cron: "*/5 * * * * *", timeZone: "Europe/Berlin" },
    { afterCompletion: chance.pick(["1s", "2s"]) },
    { every: "1s", maxRuns: chance.between(1, 4) },
  ])
}

function drawSchedule(
  plan: Plan,
  { chance, jobs }: Life,
  name: string,
  when: ScheduleSpec,
): ScheduleOptions<Task> {
  const task = drawTask(plan, chance)
  const isAfter = "afterCompletion" in when
  const overlap = chance.pick(["skip", "queue", "collapse", "replace", "allow"] as const)
  const misfire = chance.pick(MISFIRES)
  // What never drops an occurrence cannot leave one out because another still runs.
  const isCrossed =
    (misfire === "all" || misfire === ALL_WITHIN) && overlap !== "queue" && overlap !== "allow"
  return {
    ...when,
    name,
    job: jobs.get(chance.pick(["plain", "plain", "limited"])) as Job<Task, unknown>,
    input: { ...task, ms: Math.min(task.ms, 1_500), fails: Math.min(task.fails ?? 0, 1) },
    ...(!isAfter && { misfire, overlap: isCrossed ? "queue" : overlap }),
    ...(!isAfter && overlap === "replace" && !isCrossed && { replaceGrace: "500ms" }),
    ...(chance.happens(0.2) && { pauseAfterFailures: 2 }),
  } as ScheduleOptions<Task>
}

/** Ends every schedule; those that exist are cancelled, however often it takes. */
export async function endSchedules(plan: Plan, life: Life): Promise<void> {
  const { carillon, record, host } = life
  for (let number = 1; number <= plan.schedules; ) {
    const schedule = `schedule ${number}`
    try {
      const found = await carillon.schedules.get(schedule)
      const isActive = found !== undefined && found.state === "active"
      if (isActive && (await carillon.schedules.pause(schedule, BY))) record("sched_pause", { schedule })
      number += 1
    } catch (error) {
      // It may have come to its end meanwhile; and what was said before the healing may still be on its way.
      if (!isOver(error) && !(error instanceof DatabaseError)) throw error
      await host.sleep(AGAIN_MS)
    }
  }
}

function isOver(error: unknown): boolean {
  return error instanceof CarillonError && error.code === "SCHEDULE_STATE"
}
