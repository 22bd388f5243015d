/** Processes that are stopped while they are at work. */
import { join } from "node:path"
import { readHistory } from "../../support/history/read-history.ts"
import { violationText } from "../../support/history/violation-text.ts"
import { type Held, takeHold } from "../cut-off-runs.ts"
import type { Fault } from "../fault.ts"
import type { Chance } from "../seeded-random.ts"
import type { Member, World } from "../world.ts"

const MOST_ROUNDS = 30
/** So long that no reaper takes anything from a stopping process: it has to give its runs back. */
const LONG_LEASE = "40s"
/** The grace of a member is a second and a half. */
const GRACE_MS = 1_500
/** A stopping process has a second to end by itself. */
const LAST_WORDS_MS = 1_000
/** To give back runs, to close connections and to end, on a busy machine. */
const SPARE_MS = 2_000
/** A wake-up announces returned runs, and other workers have room: they wait neither for a lease nor for a poll. */
const SOON_MS = 1_000

/** The runs of each process that was left alone while it stopped: longer than its grace. */
const polite = new WeakMap<World, Held[]>()

const toldToGo: Fault = {
  id: "F10",
  title: "a worker is told to go, once, twice, or killed before it is gone",
  stage: { quiet: true, seconds: (asked) => Math.max(asked, 8) },
  strikes: ["stops", "impatient stops", "kills during a stop"],
  mustJudge: ["I11"],
  inject: async (world, chance, signal) => {
    polite.set(world, [])
    const ways = [leave, leaveTwice, leaveOrDie]
    // On a slow machine a process may have nothing to do when it is stopped, and be gone before it is killed.
    const isEnough = () => signal.aborted && world.strikes.size === ways.length
    for (let round = 0; round < MOST_ROUNDS && !isEnough(); round += 1) {
      const way = ways[round % ways.length] ?? leave
      const leaver = await world.add("worker", way === leaveOrDie ? {} : { lease: LONG_LEASE })
      // Enough of them that some are its own.
      for (let many = 0; many < 6; many += 1) {
        const job = chance.pick(["stubborn", "work"])
        await leaver.call("enqueue", { job, input: { ms: 3_000 } })
      }
      if (way === leaveOrDie) await world.rest(chance.between(100, 500))
      else polite.get(world)?.push(await takeHold(world, [leaver]))
      await way(world, leaver, chance)
    }
  },
  expect: async (world) => [
    ...(await complaintsAboutLeftBehind(world)),
    ...(await complaintsAboutReleased(world)),
  ],
}

async function leave(world: World, leaver: Member): Promise<void> {
  await requireExit(world, leaver, GRACE_MS)
  world.struck("stops")
}

async function leaveTwice(world: World, leaver: Member): Promise<void> {
  world.release(leaver)
  leaver.signal("SIGTERM")
  await world.rest(200)
  await requireExit(world, leaver, 0)
  world.struck("impatient stops")
}

async function leaveOrDie(world: World, leaver: Member, chance: Chance): Promise<void> {
  world.release(leaver)
  leaver.signal("SIGTERM")
  await world.rest(chance.between(1, GRACE_MS))
  if (!leaver.isUp()) return
  await world.kill(leaver)
  world.struck("kills during a stop")
}

async function requireExit(world: World, leaver: Member, graceMs: number): Promise<void> {
  world.release(leaver)
  leaver.signal("SIGTERM")
  const tooLate = world.rest(graceMs + LAST_WORDS_MS + SPARE_MS).then(() => "still there")
  const how = await Promise.race([leaver.ended, tooLate])
  if (how !== 0) world.complain(violationText("I31", `${leaver.name} was told to go, and is: ${how}.`))
}

/** Leases of processes that stopped in order. */
function politeLeases(world: World): string[] {
  const pids = new Set(polite.get(world)?.map(({ by }) => by.pid))
  return readHistory(join(world.folder, "history")).flatMap((entry) =>
    entry.op === "lease_open" && pids.has(Number(entry.pid)) ? [entry.lease] : [],
  )
}

/** Every run they had begun was finished or given back by themselves, and no reaper took one from them. I31. */
async function complaintsAboutLeftBehind(world: World): Promise<string[]> {
  const leases = politeLeases(world)
  const rows = await world.talk.ask(
    `select run, claim::text as claim, outcome from "${world.schema}".attempts where lease = any($1)`,
    [leases],
  )
  // One claim takes several runs.
  const ends = new Map(rows.map(({ run, claim, outcome }) => [`${run} ${claim}`, String(outcome)]))
  const endOf = ({ run, claim }: { readonly run: string; readonly claim?: string }) =>
    ends.get(`${run} ${claim}`)
  const begun = readHistory(join(world.folder, "history")).flatMap((entry) =>
    entry.op === "start" && leases.includes(`${entry.lease}`) ? [entry] : [],
  )
  const kept = (polite.get(world) ?? []).filter((held) => endOf(held) !== "released")
  const lost = rows.filter(({ outcome }) => outcome === "lost")
  const open = begun.filter((start) => endOf(start) === undefined)
  return [
    ...kept.map((held) =>
      violationText(
        "I31",
        `${held.by.name} went with run ${held.run} in hand: ${endOf(held) ?? "its end is unknown"}.`,
      ),
    ),
    ...lost.map(({ run }) => violationText("I31", `run ${run} had to be taken from one who went in order.`)),
    ...open.map(({ run }) =>
      violationText("I31", `one who went in order had begun run ${run}, and never said more.`),
    ),
  ]
}

/** A returned run starts soon, wherever there is room, and not when a lease is over. I31. */
async function complaintsAboutReleased(world: World): Promise<string[]> {
  const rows = await world.talk.ask(
    `select run, (extract(epoch from started_at - released) * 1000)::int as ms from (
       select run, started_at, lag(outcome) over own as before, lag(finished_at) over own as released,
         lag(lease) over own as by
       from "${world.schema}".attempts window own as (partition by run order by finished_at)) as attempts
     where before = 'released' and by = any($1) and started_at is not null order by ms desc`,
    [politeLeases(world)],
  )
  if (rows.length === 0)
    return ["No process that was told to stop gave back a run that another process has started."]
  world.struck("runs given back that started elsewhere", rows.length)
  world.struck("ms at the most until they did", Number(rows[0]?.["ms"]))
  return rows
    .filter(({ ms }) => Number(ms) > SOON_MS)
    .map(({ run, ms }) => violationText("I31", `run ${run} was given back, and started ${ms} ms later.`))
}

export const leaving: readonly Fault[] = [toldToGo]
