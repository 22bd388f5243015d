/** Too much at once: a backlog that comes due in one moment, and work that fails together and comes back together. */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openRecorder } from "../../support/history/record.mjs"
import { violationText } from "../../support/history/violation-text.ts"
import type { Fault, Story } from "../fault.ts"
import type { Chance } from "../seeded-random.ts"
import { tellOnStage } from "../story.ts"
import type { World } from "../world.ts"

const FUTURE = 300_000
const DUE = 50_000
/** So large that a process which took them all would show it. */
const INPUT_BYTES = 1_500
const MOST_MEMORY_MB = 250
const MOST_RETURNED = 0.1
const URGENT_WITHIN_MS = 5_000
const PATIENCE_MS = 60_000

const backlog: Story = {
  id: "F51",
  ownLength: true,
  title: `${FUTURE} runs wait for later, ${DUE} come due at once, and a worker dies meanwhile`,
  tell: (folder, chance) =>
    tellOnStage(folder, chance, {
      stage: { workers: 2, worker: { slots: 16 } },
      asks: ["I1", "I8", "I10", "I11", "I24", "I25"],
      strikes: ["runs due at once", "runs for later", "workers killed in the middle"],
      play: workOff,
    }),
}

async function workOff(world: World, chance: Chance): Promise<void> {
  await fill(world, "1", FUTURE, "1 year")
  tellOfDue(world)
  await fill(world, "2", DUE, "1 second")
  world.struck("runs for later", FUTURE)
  world.struck("runs due at once", DUE)
  const watching = new AbortController()
  const most = { mb: 0 }
  const watched = watchMemory(world, most, watching.signal)
  const done = () => count(world, "attempts", `run_state = 'succeeded' and run::text like '2%'`)
  const killAt = chance.between(5, 40) / 100
  for (let urgents = 0, isKilled = false; ; urgents += 1) {
    const isOver = await world.until(async () => (await done()) >= DUE, 500)
    if (!isKilled && (await done()) > DUE * killAt) {
      const [victim] = world.workers()
      if (victim) {
        await world.kill(victim)
        await world.replace(victim)
      }
      world.struck("workers killed in the middle")
      isKilled = true
    }
    if (isOver) break
    if (urgents > PATIENCE_MS / 500) {
      world.complain(
        violationText("I24", `after ${PATIENCE_MS} ms only ${await done()} of ${DUE} had ended.`),
      )
      break
    }
    await requireUrgent(world)
  }
  watching.abort()
  await watched
  world.struck("MB at the most", Math.round(most.mb))
  if (most.mb > MOST_MEMORY_MB)
    world.complain(
      violationText("I25", `a worker held ${Math.round(most.mb)} MB, more than ${MOST_MEMORY_MB}.`),
    )
  await judgeBacklog(world)
  // They are counted. A reader of everything would read little else in the end.
  await world.talk.ask(`delete from "${world.schema}".runs where id::text like '1%'`)
}

/** The bulk write answers for these runs: no producer has enqueued them. */
function tellOfDue({ folder }: World): void {
  const { record, close } = openRecorder(join(folder, "history"), "importer")
  const runs = Array.from({ length: DUE }, (_, index) => idOf("2", index + 1))
  for (const run of runs) record("enq_invoke", { run, job: "work", attempts: 5 })
  for (const run of runs) record("enq_ok", { run, created: true })
  close()
}

function idOf(prefix: string, number: number): string {
  return `${prefix}0000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
}

/** Written as a migration from elsewhere would be: at once, by one statement. */
async function fill({ talk, schema }: World, prefix: string, many: number, later: string): Promise<void> {
  await talk.ask(
    `insert into "${schema}".runs (id, job, pool, priority, rank, stage, enqueued_at, due_at, input)
     select ($1 || '0000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'work', 'default', 0, 0, 'waiting',
       now(), now() + $2::interval, json_build_object('filler', repeat('x', ${INPUT_BYTES}))
     from generate_series(1, $3::int) as n`,
    [prefix, later, many],
  )
  await talk.ask(`analyze "${schema}".runs`)
}

async function count({ talk, schema }: World, table: string, which: string): Promise<number> {
  const [row] = await talk.ask(`select count(*)::int as many from "${schema}".${table} where ${which}`)
  return Number(row?.["many"])
}

/** What is more urgent does not wait behind all the others. */
async function requireUrgent(world: World): Promise<void> {
  const [producer] = world.producers()
  const run = await producer?.call<string>("enqueue", { settings: { priority: 10 } })
  const isDone = await world.until(
    async () => (await count(world, "attempts", `run = '${run}' and run_state = 'succeeded'`)) === 1,
    URGENT_WITHIN_MS,
  )
  if (!isDone)
    world.complain(violationText("I11", `an urgent run waited for more than ${URGENT_WITHIN_MS} ms.`))
}

async function watchMemory(world: World, most: { mb: number }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { pid } of world.workers()) most.mb = Math.max(most.mb, memoryOf(pid))
    await world.rest(100, signal)
  }
}

function memoryOf(pid: number): number {
  try {
    // One that is just ending has none.
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

/** Each that was due has ended once and well, further tries have lost their worker, and the others wait as they did. */
async function judgeBacklog(world: World): Promise<void> {
  const ends = await world.talk.ask(
    `select run, count(*) filter (where run_state is not null)::int as ends,
       count(*) filter (where run_state is null and outcome not in ('lost', 'released'))::int as others
     from "${world.schema}".attempts where run::text like '2%' group by run
     having count(*) filter (where run_state = 'succeeded') <> 1
       or count(*) filter (where run_state is not null) <> 1
       or count(*) filter (where run_state is null and outcome not in ('lost', 'released')) > 0
     limit 5`,
  )
  for (const row of ends)
    world.complain(violationText("I8", `a run of the backlog went wrong: ${JSON.stringify(row)}.`))
  const ended = await count(world, "attempts", "run_state is not null and run::text like '2%'")
  if (ended !== DUE) world.complain(violationText("I1", `${ended} of ${DUE} runs that were due have ended.`))
  // A worker that claims more than it can start in time has to give runs back, again and again.
  const returned = await count(world, "attempts", "outcome = 'released' and run::text like '2%'")
  if (returned > DUE * MOST_RETURNED)
    world.complain(violationText("I25", `${returned} of ${DUE} runs were claimed too early, and given back.`))
  const early = await count(world, "attempts", "run::text like '1%'")
  const waiting = await count(world, "runs", "stage = 'waiting' and id::text like '1%'")
  if (early > 0 || waiting !== FUTURE)
    world.complain(
      violationText("I10", `${waiting} of ${FUTURE} runs for later wait; ${early} attempts were early.`),
    )
}

const EXTRA = { extra: fileURLToPath(new URL("load-rows.mjs", import.meta.url)) }
const HERD = 400
/** They wait for nothing to three seconds, each time. */
const WAIT_MS = 3_000
const WINDOW_MS = 250
/** By how much the fullest moment may exceed an even spread; without chance all of them are in one. */
const UNEVENNESS = 2.5

const WAITED = "runs that waited for a pause to end"

const herd: Fault = {
  id: "F52",
  title: "what handlers depend on is away for seconds, then back",
  stage: { worker: EXTRA, producer: EXTRA, seconds: (asked) => Math.max(asked, 7) },
  strikes: ["runs that failed together", "attempts against an outage", WAITED],
  inject: async (world, chance, signal) => {
    const outage = join(world.folder, "outage")
    const [producer] = world.producers()
    const offer = (many: number) =>
      producer?.call("enqueueMany", {
        job: "dependent",
        items: Array.from({ length: many }, () => ({ input: { outage } })),
      })
    await offer(10)
    writeFileSync(outage, "")
    await offer(HERD)
    world.struck("runs that failed together", HERD)
    await world.rest(chance.between(3_000, 4_000))
    world.struck("attempts against an outage", await count(world, "attempts", OF_DEPENDENTS("failed")))
    await pauseFor(world, chance.between(1_500, 2_500), () => rmSync(outage))
    while (!signal.aborted) {
      await offer(5)
      await world.rest(100, signal)
    }
  },
  heal: async (world) => rmSync(join(world.folder, "outage"), { force: true }),
  expect: async (world) => [
    ...(await complaintsAboutHerd(world)),
    ...(await complaintsAboutPause(world)),
    ...((await count(world, "attempts", `${OF_DEPENDENTS("succeeded")} and run_state is not null`)) >= HERD
      ? []
      : ["Not all that depended on something have succeeded in the end."]),
  ],
}

const DEPENDENTS = { noun: "jobs", name: "dependent" }
/** A worker that has claimed one by then may still start it. */
const UNDER_WAY_MS = 1_000
const NOW_MS = "(extract(epoch from clock_timestamp()) * 1000)::float8"
const spans = new WeakMap<World, { readonly fromMs: number; readonly toMs: number }>()

/** The pause of an operator who sees that all of them fail: no run of the job is tried until the resume. */
async function pauseFor(world: World, ms: number, mend: () => void): Promise<void> {
  const [producer] = world.producers()
  const now = async () => Number((await world.talk.ask(`select ${NOW_MS} as now`))[0]?.["now"])
  await producer?.call("pause", DEPENDENTS)
  await world.rest(UNDER_WAY_MS)
  const fromMs = await now()
  await world.rest(ms)
  const toMs = await now()
  // Parked or not: claims pass them by, until a mover parks them.
  world.struck(
    WAITED,
    await count(world, "runs", "job = 'dependent' and lease is null and stage <> 'waiting'"),
  )
  mend()
  await producer?.call("resume", DEPENDENTS)
  spans.set(world, { fromMs, toMs })
}

async function complaintsAboutPause(world: World): Promise<string[]> {
  const { fromMs, toMs } = spans.get(world) ?? { fromMs: 0, toMs: 0 }
  const started = "(extract(epoch from started_at) * 1000)::float8"
  const many = await count(
    world,
    "attempts",
    `job = 'dependent' and ${started} > ${fromMs} and ${started} < ${toMs}`,
  )
  return many === 0 ? [] : [`${many} attempts of a job began while it was paused.`]
}

const OF_DEPENDENTS = (outcome: string) => `job = 'dependent' and outcome = '${outcome}'`

/** Those that failed together do not come back together: the waits that they were given are spread over their range. */
async function complaintsAboutHerd(world: World): Promise<string[]> {
  const waits = await world.talk.ask(
    `with attempts as (
       select run, attempt, due_at, lag(finished_at) over (partition by run order by attempt) as failed_at,
         started_at from "${world.schema}".attempts where job = 'dependent' and charged)
     select floor(extract(epoch from due_at - failed_at) * 1000 / ${WINDOW_MS})::int as moment, count(*)::int as many
     from attempts where attempt > 1 group by 1 order by 2 desc`,
  )
  const all = waits.reduce((sum, { many }) => sum + Number(many), 0)
  const most = Number(waits[0]?.["many"])
  const even = (all * WINDOW_MS) / WAIT_MS
  world.struck("percent of all waits in the fullest quarter second", Math.round((most / all) * 100))
  return [
    ...(all >= HERD ? [] : [`Only ${all} attempts came back.`]),
    ...(most <= even * UNEVENNESS
      ? []
      : [
          `${most} of ${all} waits ended in the same ${WINDOW_MS} ms; an even spread makes ${Math.round(even)}.`,
        ]),
  ]
}

export const loadRows: readonly (Fault | Story)[] = [backlog, herd]
