/** A schema with a clock that is set by hand and ten schedulers, in which stories happen, one after the other. */
import { createCarillon, defineJob } from "../../../src/index.ts"
import { createSystemHost } from "../../../src/runtime/system.ts"
import type { ScheduleSpec } from "../../../src/schedule/spec.ts"
import { makeFirePartitions } from "../../../src/store/fires/partitions.ts"
import { migrate } from "../../../src/store/migrate.ts"
import { openServer } from "../../../src/store/server/server.ts"
import { takeClock } from "../../../src/testing/clock.ts"
import { newSchema } from "../engines.ts"
import type { Happening } from "../oracle/account.ts"
import { DEADLY_POINTS, type DeadlyPoint, gatherCrowd } from "../process/scheduler-crowd.ts"
import { takeReadySchema } from "../ready-schemas.ts"
import { SERVER_URLS } from "../server-urls.ts"
import { execute, rowsOf } from "../sql.ts"
import { type Facts, readFacts } from "./facts.ts"
import { type Chance, chanceOf } from "./seeded-random.ts"
import type { Act, Step, Story, StorySchedule } from "./story.ts"

export interface World {
  /** Plays a story; returns the state at its end, and what happened to each schedule on the way. */
  readonly tell: (story: Story) => Promise<Telling>
  /** How many deaths were planned at each point, how many happened, and how many processes were killed. */
  readonly deaths: () => {
    readonly planned: readonly DeadlyPoint[]
    readonly met: readonly DeadlyPoint[]
    readonly killed: number
  }
  readonly dozes: () => number
  readonly close: () => Promise<void>
}

export interface Telling {
  readonly happenings: ReadonlyMap<string, readonly Happening[]>
  readonly facts: Facts
  /** The due times of occurrences, as read after a step, by the name of the schedule. */
  readonly announced: readonly Announced[]
}

export interface Announced {
  readonly name: string
  readonly occurrence: number
  readonly due: number
}

const BY = { actor: "test", reason: "the story says so" }

export async function openWorld(url: string = SERVER_URLS.postgres18): Promise<World> {
  const host = createSystemHost()
  const schema = takeReadySchema(url) ?? newSchema(host)
  const database = openServer(host, { url, schema })
  const runtime = { ...host, database }
  await migrate(runtime)
  await makeFirePartitions(database)
  const clock = await takeClock(database, undefined)
  // The ends of runs are not this test's concern, only that there was a run.
  await execute(database, "create table {settled} as select * from {runs}")
  const work = defineJob({ name: "work", run: async () => {} })
  const carillon = createCarillon({ database: url, schema })
  const crowd = await gatherCrowd({ database: url, schema })
  const planned: DeadlyPoint[] = []
  let dozes = 0

  const setClock = (at: number) => clock.set(new Date(at))

  const act: {
    readonly [W in Act["what"]]: (act: Extract<Act, { what: W }>, story: Story) => Promise<unknown>
  } = {
    settle: () =>
      execute(
        database,
        "with gone as (delete from {runs} returning *) insert into {settled} select * from gone; " +
          "delete from {run_limits}",
      ),
    pause: ({ name, until }) =>
      carillon.schedules.pause(name, { ...BY, ...(until !== undefined && { until: new Date(until) }) }),
    resume: ({ name }) => carillon.schedules.resume(name, BY),
    "set back": ({ name }, { schedules, startsAt }) => {
      const first = schedules.find((schedule) => schedule.name === name)?.occurrences[0] ?? 0
      return execute(
        database,
        `update {schedules} set cursor = to_timestamp(${startsAt} / 1000.0),
          next_occurrence = to_timestamp(${first} / 1000.0), next_at = to_timestamp(${first} / 1000.0)
          where name = '${name}'`,
      )
    },
  }

  const isDone = async () =>
    (await rowsOf(database, "select from {schedules} where next_at <= {now}")).length === 0

  async function step(story: Story, { at, dozeAt, acts }: Step, chance: Chance): Promise<void> {
    if (dozeAt !== undefined) await setClock(dozeAt)
    const dozer = dozeAt === undefined ? undefined : await crowd.doze()
    if (dozer) dozes += 1
    await setClock(at)
    for (const each of acts)
      await (act[each.what] as (act: Act, story: Story) => Promise<unknown>)(each, story)
    const deaths = (await isDone()) ? [] : someDeaths(chance)
    planned.push(...deaths)
    await crowd.work(deaths, isDone)
    if (!dozer) return
    await dozer.wake()
    await crowd.work([], isDone)
  }

  return {
    tell: async (story) => {
      await execute(database, "delete from {schedules}; truncate {runs}, {run_limits}, {settled}")
      await setClock(story.startsAt)
      await Promise.all(
        story.schedules.map((each) => carillon.schedules.create({ ...optionsOf(each), job: work })),
      )
      const chance = chanceOf(-story.seed)
      const happenings = new Map<string, Happening[]>(story.schedules.map(({ name }) => [name, []]))
      const announced: Announced[] = []
      for (const each of story.steps) {
        await step(story, each, chance)
        for (const { name } of story.schedules) happenings.get(name)?.push(...happeningsOf(name, each))
        announced.push(...(await readAnnounced()))
      }
      return { happenings, announced, facts: await readFacts(database) }
    },
    deaths: () => ({ planned, ...crowd.deaths() }),
    dozes: () => dozes,
    close: async () => {
      await crowd.close()
      await carillon.stop()
      await database.close()
    },
  }

  async function readAnnounced(): Promise<Announced[]> {
    const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`
    const rows = await rowsOf(
      database,
      `select name, ${ms("next_occurrence")} as occurrence, ${ms("next_at")} as due from {schedules} ` +
        "where next_at is not null",
    )
    return rows as unknown as Announced[]
  }
}

/** Most steps kill no process: a new one takes longer than all its work. */
const MANY = [...Array.from({ length: 17 }, () => 0), 1, 2]

/** In the order of a tick: a process that comes to the second has met the first. */
function someDeaths(chance: Chance): DeadlyPoint[] {
  const points = Array.from({ length: chance.pick(MANY) }, () => chance.between(0, DEADLY_POINTS.length - 1))
  const sorted = points.sort((a, b) => a - b).map((index) => DEADLY_POINTS[index] as DeadlyPoint)
  // After a commit nothing may be left to do, so no other process would get that far.
  const end = sorted.findIndex((point) => point === "committing" || point === "schedule.committed")
  return end < 0 ? sorted : sorted.slice(0, end + 1)
}

function optionsOf({ name, when, misfire, overlap, maxRuns, maxQueued, jitterMs }: StorySchedule) {
  return {
    ...specOf(when),
    ...(jitterMs > 0 && { jitter: jitterMs }),
    ...(maxRuns !== undefined && { maxRuns }),
    name,
    misfire,
    overlap,
    maxQueued,
  }
}

function specOf(when: StorySchedule["when"]): Exclude<ScheduleSpec, { afterCompletion: unknown }> {
  if ("cron" in when) return when
  if ("once" in when) return { at: when.once, timeZone: when.timeZone }
  if ("everyMs" in when) return { every: when.everyMs, offset: when.offsetMs }
  const { days, from, at, timeZone } = when
  return { every: { days, from, at }, timeZone }
}

/** What a step was to one schedule. */
function happeningsOf(name: string, { at, acts }: Step): Happening[] {
  const mine = acts.flatMap((act): Happening[] => {
    if (act.what === "settle") return [{ what: "settle" }]
    if (act.what === "set back" || act.name !== name) return []
    return act.what === "pause" ? [{ what: "pause", at, until: act.until }] : [{ what: "resume", at }]
  })
  return [...mine, { what: "tick", at }]
}
