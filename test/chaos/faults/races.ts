/** Calls that race each other and the work: every pair of them, by two processes at once, while workers die. */
import { fileURLToPath } from "node:url"
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault } from "../fault.ts"
import { SCHEDULES } from "../schedules.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"

const EXTRA = { extra: fileURLToPath(new URL("races.mjs", import.meta.url)) }

/** What people do to a run; and what happens to it by itself just then. */
const ON_RUN = ["cancel", "expedite", "replay", "discard", "pause", "resume", "look"] as const
const BY_ITSELF = ["claim", "settle", "reap"] as const
const ON_SCHEDULE = ["pause", "resume", "edit", "describe", "run now", "skip next", "look", "tick"] as const
/** How such a call may end: it took effect, there was nothing to do, or another call was faster. */
const FINE: readonly string[] = [
  "done",
  "nothing",
  "RUN_NOT_FOUND",
  "SCHEDULE_CHANGED",
  "SCHEDULE_STATE",
  "SCHEDULE_BEHIND",
]
const AT_ONCE = 6
const RACED = Array.from({ length: AT_ONCE }, (_, number) => `raced-${number}`)

const races: Fault = {
  id: "F55",
  title:
    "people cancel, expedite, replay, pause, resume and edit what is claimed, settled and reaped just then",
  stage: {
    worker: EXTRA,
    producer: EXTRA,
    rate: 20,
    schedules: [
      ...SCHEDULES.filter(({ name }) => /^(all|latest|slow)/.test(name)),
      ...RACED.map((name) => ({ name, job: "tick" as const, input: {}, every: "1s", overlap: "allow" })),
    ],
  },
  strikes: [
    "pairs of calls about runs",
    "pairs of calls about schedules",
    "calls that did something",
    "pauses that were held",
    "kills",
  ],
  inject: async (world, chance, signal) => {
    const killing = new AbortController()
    const kills = killNowAndThen(world, chance.fork("kills"), killing.signal)
    const pairs = [
      ...pairsOf([...ON_RUN, ...BY_ITSELF]).map((pair) => ({ pair, about: "runs" })),
      ...pairsOf(ON_SCHEDULE).map((pair) => ({ pair, about: "schedules" })),
    ]
    try {
      // All pairs, then all again, in another order.
      do {
        const left = shuffled(pairs, chance)
        const lane = async (name: string) => {
          for (let next = left.pop(); next; next = left.pop()) {
            const { pair, about } = next
            if (about === "runs") await raceAboutRun(world, pair, chance)
            else await raceAboutSchedule(world, pair, name, chance)
            world.struck(`pairs of calls about ${about}`)
          }
        }
        await Promise.all(RACED.map(lane))
      } while (!signal.aborted)
    } finally {
      killing.abort()
      await kills
    }
  },
  heal: async (world) => {
    const [producer] = world.producers()
    await producer?.call("raceRun", { what: "resume" })
    for (const name of RACED) await producer?.call("raceSchedule", { what: "resume", name })
  },
  expect: async (world) => [
    ...(await complaintsAboutCancelled(world)),
    ...(await complaintsAboutPauses(world)),
  ],
}

function pairsOf(names: readonly string[]): (readonly [string, string])[] {
  return names.flatMap((one, index) => names.slice(index).map((other) => [one, other] as const))
}

function shuffled<T>(items: readonly T[], chance: Chance): T[] {
  return items
    .map((item) => ({ item, at: chance.number() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

async function killNowAndThen(world: World, chance: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await world.rest(chance.between(1_500, 3_000), signal)
    if (signal.aborted) return
    const victim = chance.pick(world.workers())
    await world.kill(victim)
    world.struck("kills")
    await world.replace(victim)
  }
}

/** Two processes, each with one of the two calls, on a run that is about to be what the calls are about. */
async function raceAboutRun(world: World, pair: readonly string[], chance: Chance): Promise<void> {
  const [one, other] = shuffled(world.producers(), chance) as [Member, Member]
  const isAboutDead = pair.includes("replay") || pair.includes("discard")
  const inMs = chance.between(20, 80)
  const run = await one.call<string | undefined>("raced", {
    // It ends, or becomes due, when the calls come.
    input: { ms: pair.includes("settle") ? inMs : chance.between(0, 60), bury: isAboutDead },
    settings: pair.includes("claim") ? { delay: inMs } : {},
  })
  if (run === undefined) return
  if (isAboutDead && chance.whether(0.8)) await untilDead(world, run)
  else await world.rest(inMs)
  await Promise.all(
    pair.map(async (call, index) => {
      if (call === "claim" || call === "settle") return
      if (call === "reap") return loseLeaseOf(world, run)
      await world.rest(chance.between(0, 5))
      note(world, call, await (index === 0 ? one : other).call<string>("raceRun", { what: call, run }))
    }),
  )
  if (pair.includes("pause")) await one.call("raceRun", { what: "resume", run })
}

async function untilDead({ talk, schema, until }: World, run: string): Promise<void> {
  await until(
    async () => (await talk.ask(`select 1 from "${schema}".dead_letters where run = $1`, [run])).length > 0,
    1_000,
  )
}

/** As if its worker had been silent for too long. */
async function loseLeaseOf(world: World, run: string): Promise<void> {
  const rows = await world.talk.ask(
    `update "${world.schema}".workers set dead = true
     where not dead and lease = (select lease from "${world.schema}".runs where id = $1) returning lease`,
    [run],
  )
  if (rows.length > 0) world.struck("leases taken for dead")
}

async function raceAboutSchedule(
  world: World,
  pair: readonly string[],
  name: string,
  chance: Chance,
): Promise<void> {
  const producers = shuffled(world.producers(), chance)
  // It ticks every second, by itself.
  await Promise.all(
    pair
      .filter((call) => call !== "tick")
      .map(async (call, index) => {
        await world.rest(chance.between(0, 5))
        const nonce = chance.between(1, 1_000_000)
        note(
          world,
          call,
          `${await producers[index]?.call<string>("raceSchedule", { what: call, name, nonce })}`,
        )
      }),
  )
  if (pair.includes("pause")) await holdPause(world, producers[0], name)
}

interface Span {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
}

const pauses = new WeakMap<World, Span[]>()
/** Longer than from one occurrence to the next. */
const HOLD_MS = 2_200

/** Whichever was first, it is paused now or it is not: if it is, it stays so until a resume. */
async function holdPause(world: World, producer: Member | undefined, name: string): Promise<void> {
  const [row] = await world.talk.ask(
    `select state, ${NOW_MS} as now from "${world.schema}".schedules where name = $1`,
    [name],
  )
  if (row?.["state"] === "paused") {
    await world.rest(HOLD_MS)
    const [until] = await world.talk.ask(`select ${NOW_MS} as now`)
    const span = { name, fromMs: Number(row["now"]), toMs: Number(until?.["now"]) }
    pauses.set(world, [...(pauses.get(world) ?? []), span])
    world.struck("pauses that were held")
  }
  await producer?.call("raceSchedule", { what: "resume", name })
}

const NOW_MS = "(extract(epoch from clock_timestamp()) * 1000)::float8"

function note(world: World, call: string, answer: string): void {
  if (answer === "done") world.struck("calls that did something")
  if (!FINE.includes(answer)) world.complain(`${call} was answered with ${answer}.`)
}

/** Whatever else happened to it, a cancelled run ends as cancelled. I23. */
async function complaintsAboutCancelled({ talk, schema }: World): Promise<string[]> {
  const rows = await talk.ask(
    `select substr(subject, 5) as run, (
       select run_state from "${schema}".attempts as a
       where a.run::text = substr(subject, 5) and run_state is not null order by generation desc limit 1) as ended
     from "${schema}".audit where action = 'run.cancel'`,
  )
  if (rows.length === 0) return ["Nothing was cancelled."]
  return rows.flatMap(({ run, ended }) =>
    ended === "cancelled" ? [] : [violationText("I23", `run ${run} was cancelled, and ended as ${ended}.`)],
  )
}

/** While it was certainly paused, no occurrence has made a run. I13. */
async function complaintsAboutPauses(world: World): Promise<string[]> {
  const said: string[] = []
  for (const { name, fromMs, toMs } of pauses.get(world) ?? []) {
    const rows = await world.talk.ask(
      `select f.occurrence from "${world.schema}".fires as f join "${world.schema}".schedules as s on s.id = f.schedule
       where s.name = $1 and f.outcome = 'fired' and f.generation = 1
         and f.occurrence > to_timestamp($2::float8 / 1000) and f.occurrence < to_timestamp($3::float8 / 1000)`,
      [name, fromMs, toMs],
    )
    for (const { occurrence } of rows)
      said.push(
        violationText("I13", `${name} was paused, and ${(occurrence as Date).toISOString()} has fired.`),
      )
  }
  return said
}

const LETTERS = 24
const EDITED = "edited"

const storms = new WeakMap<World, { letters: string[]; replayed: Map<string, number>; edits: number }>()

const storm: Fault = {
  id: "F56",
  title: "dead letters are replayed by everybody at once, and a schedule is edited by everybody at once",
  stage: { worker: EXTRA, producer: EXTRA, rate: 20 },
  strikes: ["replays", "replays that came too late", "edits", "edits that came too late", "kills"],
  inject: async (world, chance, signal) => {
    const letters: string[] = []
    const told = { letters, replayed: new Map<string, number>(), edits: 0 }
    storms.set(world, told)
    const [one, other] = world.producers() as [Member, Member]
    await one.call("putSchedule", {
      name: EDITED,
      job: "tick",
      input: { n: 0 },
      every: "1s",
      overlap: "allow",
    })
    const killing = new AbortController()
    const kills = killNowAndThen(world, chance.fork("kills"), killing.signal)
    const editing = [one, other, one, other].map(async (member) => {
      const { edited, refused } = await member.call<Edits>("editOn", { name: EDITED, forMs: 3_000 })
      told.edits += edited
      world.struck("edits", edited)
      world.struck("edits that came too late", refused)
    })
    try {
      do {
        const run = await one.call<string>("raced", { input: { bury: true } })
        letters.push(run)
        // It dies twice before it succeeds.
        for (const _ of [1, 2]) {
          await untilDead(world, run)
          await Promise.all(
            [one, other, one, other].map((member) => replay(world, told.replayed, member, run)),
          )
        }
      } while (!signal.aborted || letters.length < LETTERS)
    } finally {
      killing.abort()
      await Promise.all([...editing, kills])
    }
  },
  expect: async (world) => [...(await complaintsAboutReplays(world)), ...(await complaintsAboutEdits(world))],
}

interface Edits {
  readonly edited: number
  readonly refused: number
}

async function replay(world: World, replayed: Map<string, number>, by: Member, run: string): Promise<void> {
  const answer = await by.call<string>("raceRun", { what: "replay", run })
  if (answer === "done") {
    replayed.set(run, (replayed.get(run) ?? 0) + 1)
    world.struck("replays")
  } else if (answer === "RUN_NOT_FOUND") world.struck("replays that came too late")
  else world.complain(`a replay was answered with ${answer}.`)
}

/** Every replay that was granted made one generation, and all attempts of all generations are there. */
async function complaintsAboutReplays(world: World): Promise<string[]> {
  const { letters, replayed } = storms.get(world) ?? { letters: [], replayed: new Map<string, number>() }
  const rows = await world.talk.ask(
    `select run, max(generation) as generations, count(*) filter (where run_state is not null)::int as ends,
       count(distinct generation)::int as kept, (array_agg(run_state order by generation desc)
         filter (where run_state is not null))[1] as ended
     from "${world.schema}".attempts where run = any($1) group by run`,
    [letters],
  )
  if (rows.length !== letters.length) return [`${letters.length - rows.length} dead letters are nowhere.`]
  return rows.flatMap(({ run, generations, ends, kept, ended }) => {
    const wanted = (replayed.get(String(run)) ?? 0) + 1
    const isFine = [generations, ends, kept].every((count) => Number(count) === wanted)
    const isEnded = ended === (wanted > 2 ? "succeeded" : "dead")
    return isFine && isEnded
      ? []
      : [
          violationText(
            "I6",
            `run ${run} was replayed ${wanted - 1} times; it has ${generations} generations, ${kept} ` +
              `of them in history, ${ends} ends, the last ${ended}.`,
          ),
        ]
  })
}

/** Each edit that was granted counts one further: none was lost under another. */
async function complaintsAboutEdits(world: World): Promise<string[]> {
  const { edits } = storms.get(world) ?? { edits: 0 }
  const [row] = await world.talk.ask(
    `select version, (input ->> 'n')::int as n from "${world.schema}".schedules where name = $1`,
    [EDITED],
  )
  return Number(row?.["n"]) === edits && Number(row?.["version"]) === edits + 1
    ? []
    : [
        violationText(
          "I13",
          `${edits} edits were granted; the schedule counts ${row?.["n"]}, at version ${row?.["version"]}.`,
        ),
      ]
}

export const racing: readonly Fault[] = [races, storm]
