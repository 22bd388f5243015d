/** History that expires, a hundred times as often as usual, while it is read, written and called back. */
import { fileURLToPath } from "node:url"
import { violationText } from "../../support/history/violation-text.ts"
import { lacksFaketime } from "../clock.ts"
import type { Story } from "../fault.ts"
import type { Chance } from "../seeded-random.ts"
import { tellOnStage } from "../story.ts"
import type { Member, World } from "../world.ts"

const EXTRA = { extra: fileURLToPath(new URL("history.mjs", import.meta.url)) }
const DAY_MS = 86_400_000
/** On which something happens. Leases end with each of them, so that there had better be few. */
const DAYS = [0, 1, 2, 5, 8]
const LAST_DAY = 10
const A_DAY = 30
/** How long each class is kept. */
const KEPT_DAYS = { brief: 1, usual: 7, mourned: 7, lasting: 90 } as const
const LATER_DAYS = 40
const LATER = 50
const HELD_KEY = { key: "held", keyFor: `${LATER_DAYS}d` }

/** What would prove it is gone, as it was to be. The story says itself which runs must be there. */
const DROPPED = "history was dropped"
const UNJUDGED = { I1: DROPPED, I6: DROPPED, I7: DROPPED, I8: DROPPED }

const pruning: Story = {
  id: "F57",
  ownLength: true,
  title:
    "history is dropped a hundred times as often, while days pass, pages are read and the dead are replayed",
  needs: lacksFaketime,
  tell: (folder, chance) =>
    tellOnStage(folder, chance, {
      stage: { clock: true, workers: 2, worker: EXTRA, producer: EXTRA, unjudged: UNJUDGED },
      asks: ["I1", "I18", "I24", "I25", "I33"],
      strikes: ["days passed", "days of history dropped", "readings of all pages", "dead letters replayed"],
      play: passDays,
    }),
}

async function passDays(world: World, chance: Chance): Promise<void> {
  const [one, other] = world.producers() as [Member, Member]
  const later = await enqueue(one, "usual", LATER, { delay: `${LATER_DAYS}d` })
  const held = await one.call<string>("enqueue", { job: "usual", settings: HELD_KEY })
  const pruners = [one, other].map((member) => member.call<Pruned>("prune"))
  const reading = new AbortController()
  const read = readOn(world, other, reading.signal)
  const dead: string[] = []
  for (const [index] of DAYS.entries()) {
    for (const job of ["brief", "usual", "lasting"]) await enqueue(one, job, A_DAY)
    dead.push(...(await enqueue(one, "mourned", 2)))
    await requireDone(world, later.length)
    world.clock?.set((DAYS[index + 1] ?? LAST_DAY) * DAY_MS)
    world.struck("days passed")
    await one.call("round")
    await world.rest(chance.between(100, 300))
  }
  await world.rest(500)
  reading.abort()
  await read
  await replayAll(world, one, dead)
  await requireDone(world, later.length)
  await stopPruning(world, [one, other], pruners)
  await judgeWhatIsLeft(world, later)
  await judgeKey(world, one, held)
}

interface Pruned {
  readonly days: readonly string[]
  readonly most: number
  readonly limit: number
}

async function enqueue(member: Member, job: string, many: number, settings = {}): Promise<string[]> {
  const items = Array.from({ length: many }, () => ({ input: {}, ...settings }))
  return (await member.call<string[] | undefined>("enqueueMany", { job, items })) ?? []
}

/** Nothing lives but what is for later. */
async function requireDone(world: World, later: number): Promise<void> {
  const live = async () => {
    const [row] = await world.talk.ask(`select count(*)::int as many from "${world.schema}".runs`)
    return Number(row?.["many"])
  }
  const isDone = await world.until(async () => (await live()) === later, 20_000)
  if (!isDone) world.complain(violationText("I24", `there are ${await live()} live runs, not ${later}.`))
}

/** A reader of all pages gets everything once that was there before and is not too old afterwards. */
async function readOn(world: World, reader: Member, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const before = await world.talk.ask(
      `select run as id, job, (extract(epoch from finished_at) * 1000)::float8 as "finishedMs"
       from "${world.schema}".attempts where run_state is not null`,
    )
    const seen = await reader.call<string[]>("readAll")
    const [row] = await world.talk.ask(
      `select (extract(epoch from "${world.schema}".now()) * 1000)::float8 as now`,
    )
    const told = new Set(seen)
    if (told.size !== seen.length)
      world.complain(violationText("I33", `${seen.length - told.size} runs were told twice.`))
    const missed = before.filter(({ id, job, finishedMs }) => {
      const keptMs = (KEPT_DAYS[job as keyof typeof KEPT_DAYS] ?? 7) * DAY_MS
      return Number(finishedMs) > Number(row?.["now"]) - keptMs && !told.has(String(id))
    })
    if (missed.length > 0)
      world.complain(
        violationText(
          "I33",
          `a reader of all pages was not told of ${missed.length} runs, as ${missed[0]?.["id"]}.`,
        ),
      )
    world.struck("readings of all pages")
    await world.rest(20, signal)
  }
}

async function replayAll(world: World, member: Member, runs: readonly string[]): Promise<void> {
  const refused = await member.call<string[]>("replayAll", { runs })
  world.struck("dead letters replayed", runs.length - refused.length)
  for (const says of refused)
    world.complain(violationText("I1", `a dead letter could not be replayed: ${says}`))
  const succeeded = async () => {
    const [row] = await world.talk.ask(
      `select count(*)::int as many from "${world.schema}".attempts
       where run = any($1) and generation = 2 and run_state = 'succeeded'`,
      [runs],
    )
    return Number(row?.["many"])
  }
  const isDone = await world.until(async () => (await succeeded()) === runs.length, 15_000)
  if (!isDone)
    world.complain(violationText("I1", `${await succeeded()} of ${runs.length} replayed runs succeeded.`))
}

async function stopPruning(world: World, members: Member[], pruners: Promise<Pruned>[]): Promise<void> {
  await world.rest(1_000)
  for (const member of members) await member.call("stopPruning")
  for (const { days, most, limit } of await Promise.all(pruners)) {
    world.struck("days of history dropped", days.length)
    if (most > limit) world.complain(violationText("I25", `${most} rows were deleted at once, not ${limit}.`))
  }
}

/** What is too old is gone, everything else is there, and so is all that lives. */
async function judgeWhatIsLeft(world: World, later: readonly string[]): Promise<void> {
  const s = `"${world.schema}"`
  const rows = await world.talk.ask(
    `select job, floor(extract(epoch from ${s}.now() - finished_at) / 86400)::int as age, count(*)::int as many
     from ${s}.attempts where job = any($1) and generation = 1 group by 1, 2`,
    [Object.keys(KEPT_DAYS)],
  )
  const kept = new Map(rows.map(({ job, age, many }) => [`${job} ${age}`, Number(many)]))
  for (const [job, days] of Object.entries(KEPT_DAYS)) {
    const [old] = rows.filter((row) => row["job"] === job && Number(row["age"]) > days + 1)
    if (old) world.complain(violationText("I25", `history still has ${job} that is ${old["age"]} days old.`))
    const least = job === "mourned" ? 2 : A_DAY
    for (const age of DAYS.map((day) => LAST_DAY - day).filter((each) => each < days)) {
      const many = kept.get(`${job} ${age}`) ?? 0
      if (many < least) world.complain(violationText("I1", `of ${job} ${age} days ago history has ${many}.`))
    }
  }
  const [live] = await world.talk.ask(
    `select count(*)::int as many from ${s}.runs where id = any($1) and stage = 'waiting'`,
    [later],
  )
  if (live?.["many"] !== later.length)
    world.complain(violationText("I1", `${live?.["many"]} of ${later.length} runs for later are left.`))
}

/** Its run has left history long ago; the key is held all the same. */
async function judgeKey(world: World, member: Member, held: string): Promise<void> {
  const again = await member.call<string>("enqueue", { job: "usual", settings: HELD_KEY })
  if (again !== held)
    world.complain(violationText("I18", `a key that is held was given to ${again} as well.`))
}

export const history: readonly Story[] = [pruning]
