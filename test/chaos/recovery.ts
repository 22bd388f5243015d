/** After the fault: every process must be at work again by itself, all work must end, and every process must stop. */
import { DEFAULTS } from "../../src/defaults.ts"
import { violationText } from "../support/history/violation-text.ts"
import type { Member, World } from "./world.ts"

const LEASE_MS = 2_000
/** The longest that a loop rests after it has failed again and again. */
const LONGEST_REST_MS = 10_000
/** What a busy machine adds. */
const SPARE_MS = 1_000
/**
 * Until a lease is over, a thread may speak for a silent process, processes without wake-ups look by themselves, and
 * a failed loop tries once more: 20 s.
 */
export const RECOVER_MS = 2 * LEASE_MS + DEFAULTS.idlePollMs + LONGEST_REST_MS + SPARE_MS

/** What is for another day may wait. */
const BUSY_STATES = `select {s}.state(runs), count(*)::int as many from {s}.runs
  where stage <> 'waiting' or due_at < {s}.now() + interval '1 day' group by 1 order by 1`

/** All live processes work again, and new runs are executed. I24. Resolves with how long that took, in milliseconds. */
export async function recover(world: World, withinMs: number): Promise<number> {
  const beganMs = performance.now()
  const wholeBy = beganMs + withinMs
  const left = () => Math.max(1_000, wholeBy - performance.now())
  await Promise.all(
    world.producers().map(async (producer) => {
      const isBack = await world.until(() => isRound(producer, left()), withinMs)
      if (!isBack)
        world.complain(
          violationText(
            "I24",
            `${producer.name} could not have a run executed within ${withinMs} ms after the fault.`,
          ),
        )
    }),
  )
  await Promise.all([
    ...world.workers().map((worker) => requireWork(world, worker, left())),
    requireSchedules(world, left()),
  ])
  return performance.now() - beganMs
}

/** From the enqueue to the result. */
async function isRound(producer: Member, withinMs: number): Promise<boolean> {
  try {
    return await producer.call<boolean>("round", {}, withinMs)
  } catch {
    return false
  }
}

/** A process that lives and does nothing is the worst kind of dead. */
async function requireWork(world: World, worker: Member, withinMs: number): Promise<void> {
  if (!servesDefault(worker)) return
  const finished = async () => {
    const counts = await worker.call<Record<string, number>>("ping", {}, withinMs).catch(() => undefined)
    return counts?.["attempt.finished"] ?? 0
  }
  const before = await finished()
  const isBack = await world.until(async () => (await finished()) > before, withinMs)
  if (!isBack && worker.isUp()) {
    world.complain(
      violationText(
        "I24",
        `${worker.name} lives and has finished nothing within ${withinMs} ms after the fault.`,
      ),
    )
  }
}

/** Overdue by more than a scheduler ever sleeps, or waiting for the end of a run that does not exist. */
const SCHEDULES = `select name, next_at::text as "nextAt", next_at < {s}.now() + interval '3 seconds' as "isSoon", case
    when next_at is null then not exists (select from {s}.runs where schedule = schedules.id::text)
    else next_at < {s}.now() - interval '3 seconds'
  end as "isBehind"
  from {s}.schedules where state = 'active'`

/** Every schedule that is due by now or soon is moved on, by any scheduler, and none stays behind. */
async function requireSchedules(world: World, withinMs: number): Promise<void> {
  const look = () => world.talk.ask(SCHEDULES.replaceAll("{s}", `"${world.schema}"`))
  const soon = new Map(
    (await look()).flatMap(({ name, nextAt, isSoon }) => (isSoon === true ? [[name, nextAt]] : [])),
  )
  let still: unknown[] = []
  const isFine = await world.until(async () => {
    const now = await look()
    still = now
      .filter(
        ({ name, nextAt, isBehind }) => isBehind === true || (soon.has(name) && soon.get(name) === nextAt),
      )
      .map(({ name }) => name)
    return still.length === 0
  }, withinMs)
  if (!isFine)
    world.complain(
      violationText("I24", `${still.join(", ")} stood still for ${withinMs} ms after the fault.`),
    )
}

function servesDefault({ options }: Member): boolean {
  return options.pools === undefined || "default" in options.pools
}

/** Longer than any wait for it: only a cancel ends it soon. */
const LONG = { job: "work", input: { ms: 20_000 }, settings: { priority: 10 } }
/** A process without wake-ups hears of it with the next renewal of its lease: a quarter of eight seconds at most. */
const TOLD_WITHIN_MS = 5_000
/** From the claim to the first line of the handler, on a busy machine. */
const BEGIN_MS = 500

/** A handler whose run another process cancels is told so in time, for the checker to see. I23. */
export async function cancelAtWork(world: World, withinMs: number): Promise<void> {
  const [producer] = world.producers()
  const isIn = async (table: string, which: string, run: string) => {
    const rows = await world.talk.ask(`select 1 from "${world.schema}".${table} where ${which}`, [run])
    return rows.length > 0
  }
  const isDone = await world.until(async () => {
    const run = await producer?.call<string | undefined>("enqueue", LONG)
    if (run === undefined) return false
    const isAtWork = () => isIn("runs", "id = $1 and lease is not null", run)
    const isOver = () => isIn("attempts", "run = $1 and run_state is not null", run)
    await world.until(async () => (await isAtWork()) || (await isOver()), withinMs)
    await world.rest(BEGIN_MS)
    await producer?.call("cancel", { run, withinMs: TOLD_WITHIN_MS })
    await world.until(isOver, withinMs)
    // Its worker may have lost it before the cancel, when a clock was set just now.
    return isIn("attempts", "run = $1 and run_state = 'cancelled' and started_at is not null", run)
  }, withinMs)
  if (!isDone)
    world.complain(violationText("I23", "no run could be cancelled while a process was executing it."))
}

/** The load ends, schedules rest, and every run comes to its end. */
export async function drain(world: World, withinMs: number): Promise<void> {
  await Promise.all(
    world.producers().map(async (producer) => {
      await producer
        .call("quiet", {}, withinMs)
        .catch((error) => world.complain(violationText("I24", `${String(error)}`)))
    }),
  )
  const [producer] = world.producers()
  const schedules = await world.talk.ask(
    `select name from "${world.schema}".schedules where state = 'active'`,
  )
  for (const { name } of schedules) await producer?.call("pauseSchedule", { schedule: name })
  const isEmpty = await world.until(async () => (await leftOver(world)) === "", withinMs)
  if (!isEmpty)
    world.complain(
      violationText(
        "I24",
        `${withinMs} ms after the end of the load there are still runs: ${await leftOver(world)}.`,
      ),
    )
}

async function leftOver({ talk, schema }: World): Promise<string> {
  const rows = await talk.ask(BUSY_STATES.replaceAll("{s}", `"${schema}"`))
  return rows.map(({ state, many }) => `${many} ${state}`).join(", ")
}

const STOP_MS = 20_000

/** All of history is read once more; then every process stops, and ends by itself with nothing left to do. */
export async function stopAll(world: World): Promise<void> {
  const [reader] = world.producers()
  await reader?.call("history", { final: true })
  const everybody = [...world.workers(), ...world.producers()]
  await Promise.all(everybody.map((member) => stopOne(world, member)))
  // Also of those who have gone before.
  for (const member of world.everybody())
    for (const { text } of member.said("surprise")) world.complain(`${member.name}: ${text}.`)
}

async function stopOne(world: World, member: Member): Promise<void> {
  try {
    await member.call("stop", {}, STOP_MS)
  } catch (error) {
    world.complain(violationText("I31", `${member.name} could not be stopped: ${String(error)}.`))
  }
  world.release(member)
  member.hangUp()
  const hasEnded = await Promise.race([member.ended, world.rest(STOP_MS).then(() => "never")])
  if (hasEnded !== 0)
    world.complain(
      violationText("I31", `${member.name}, stopped and with nothing left to do, ended: ${hasEnded}.`),
    )
}
