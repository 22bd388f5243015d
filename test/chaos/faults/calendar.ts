/** Time that passes: clock changes, hours without a scheduler, and times that are far away. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { violationText } from "../../support/history/violation-text.ts"
import type { When } from "../../support/oracle/occurrences.ts"
import { lacksFaketime } from "../clock.ts"
import type { Story } from "../fault.ts"
import { postGuards } from "../guards.ts"
import { complaintsAboutLedger, readLedger } from "../ledger.ts"
import type { Planned } from "../schedules.ts"
import type { Chance } from "../seeded-random.ts"
import { tellOnStage } from "../story.ts"
import type { World } from "../world.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const PATIENCE_MS = 60_000

/** A clock that passes over a time is never shown to come to it. Guards in the database judge it instead. */
const UNJUDGED = { I10: "the clock went over what was due" }

type Zoned = Planned & { readonly cron: string; readonly timeZone: string }

/** In a gap and in a second pass: hours that are chosen, all hours, half hours, and midnights that do not exist. */
const ZONED: readonly Zoned[] = [
  zoned("oslo", "30 2 * * *", "Europe/Oslo", "all"),
  zoned("new-york", "0 * * * *", "America/New_York", "latest"),
  zoned("lord-howe", "*/15 1-2 * * *", "Australia/Lord_Howe", "latest"),
  zoned("cairo", "0 0 * * *", "Africa/Cairo", "all"),
  zoned("new-year", "0 0 1 1 *", "UTC", "all"),
]

function zoned(name: string, cron: string, timeZone: string, misfire: "all" | "latest"): Zoned {
  return { name, job: "tick", input: {}, cron, timeZone, misfire, overlap: "allow" }
}

const clockChanges: Story = {
  id: "F45",
  ownLength: true,
  title: "the clocks of several zones change, and a year ends, while processes are at work",
  needs: lacksFaketime,
  tell: (folder, chance) =>
    tellOnStage(folder, chance, {
      stage: { clock: true, workers: 2, unjudged: UNJUDGED },
      asks: ["I9", "I10", "I12", "I24"],
      strikes: ["clock changes passed", "year ends passed"],
      play: passClockChanges,
    }),
}

async function passClockChanges(world: World, chance: Chance): Promise<void> {
  const guards = await postGuards(world)
  const [producer] = world.producers()
  for (const schedule of ZONED) await producer?.call("putSchedule", schedule)
  const nowMs = Date.now()
  const turn = Date.UTC(new Date(nowMs).getUTCFullYear() + 1, 0, 1)
  const changes = ZONED.flatMap(({ timeZone }) => changesOf(timeZone, nowMs, nowMs + 365 * DAY_MS))
  for (const at of [...changes, turn].sort((a, b) => a - b)) {
    if (at < Date.now() + (world.clock?.aheadMs() ?? 0) + 3 * HOUR_MS) continue
    // The long way at once, then in steps as small as a late scheduler may be.
    for (let to = at - 130 * MINUTE_MS; to < at + 130 * MINUTE_MS; ) {
      guards.setClock(to - Date.now())
      await world.rest(chance.between(60, 120))
      to += chance.between(20, 50) * MINUTE_MS
    }
    world.struck(at === turn ? "year ends passed" : "clock changes passed")
  }
  await requireCaughtUp(world)
  for (const { name, cron, timeZone } of ZONED)
    for (const says of await complaintsAboutLedger(world, name, { cron, timeZone })) world.complain(says)
  for (const says of await guards.complaints()) world.complain(says)
}

/** Instants at which the offset of a zone changes, to the minute. */
function changesOf(timeZone: string, fromMs: number, toMs: number): number[] {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" })
  const offset = (ms: number) => format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value
  const found: number[] = []
  for (let day = fromMs; day < toMs; day += DAY_MS) {
    if (offset(day) === offset(day + DAY_MS)) continue
    let [low, high] = [day, day + DAY_MS]
    while (high - low > MINUTE_MS) {
      const middle = Math.floor((low + high) / 2)
      if (offset(middle) === offset(day)) low = middle
      else high = middle
    }
    found.push(Math.floor(high / MINUTE_MS) * MINUTE_MS)
  }
  return found
}

/** No occurrence is due and undecided, at least up to an instant, and all due runs of schedules have ended. */
async function requireCaughtUp(world: World, decidedToMs = 0): Promise<void> {
  const s = `"${world.schema}"`
  const behind = async () => {
    const [row] = await world.talk.ask(
      `select (select count(*)::int from ${s}.schedules where next_at < ${s}.now() - interval '3 seconds'
           or cursor < to_timestamp($1::float8 / 1000)) as schedules,
         (select count(*)::int from ${s}.runs where due_at < ${s}.now() - interval '3 seconds') as runs`,
      [decidedToMs],
    )
    return row
  }
  const isDone = await world.until(async () => {
    const row = await behind()
    return row?.["schedules"] === 0 && row["runs"] === 0
  }, PATIENCE_MS)
  if (!isDone)
    world.complain(violationText("I24", `what is due stays undone: ${JSON.stringify(await behind())}.`))
}

const AWAY_MS = HOUR_MS
const MOST_QUEUED = 1_000
/** A tick may write so many at once. */
const CHUNK = 500

const SECONDS: readonly Planned[] = [
  second("latest", "latest"),
  second("skip", "skip"),
  second("all", "all"),
  second("late-latest", { mode: "latest", within: "30m" }),
  second("within", { mode: "all", within: "10m" }),
  second("newest", { mode: "all", max: 100 }),
]

function second(name: string, misfire: unknown): Planned {
  return { name, job: "tick", input: {}, every: "1s", misfire, overlap: "allow" }
}

/** How many of the newest missed occurrences make a run of their own; the others are one stretch before them. */
const RUNS_OF_AN_HOUR: Readonly<Record<string, number>> = {
  latest: 1,
  skip: 1,
  "late-latest": 1,
  within: 600,
  newest: 100,
}
/** From reading the clock to writing the decision, on a busy machine. */
const SLACK_SECONDS = 6

const noScheduler: Story = {
  id: "F47",
  ownLength: true,
  title: "no scheduler is there for an hour, and schedules of every second have to be made up for",
  needs: lacksFaketime,
  tell: (folder, chance) =>
    tellOnStage(folder, chance, {
      stage: { clock: true, workers: 2, unjudged: UNJUDGED },
      asks: ["I9", "I10", "I12", "I24", "I25"],
      strikes: ["hours without a scheduler"],
      play: passAnHour,
    }),
}

async function passAnHour(world: World, chance: Chance): Promise<void> {
  const guards = await postGuards(world)
  const [producer] = world.producers()
  for (const schedule of SECONDS) await producer?.call("putSchedule", schedule)
  await world.rest(chance.between(1_500, 2_500))
  for (const worker of world.workers()) await world.kill(worker)
  const cursors = await world.talk.ask(
    `select name, (extract(epoch from cursor) * 1000)::float8 as cursor from "${world.schema}".schedules`,
  )
  guards.setClock(AWAY_MS)
  const backMs = Date.now() + AWAY_MS
  world.struck("hours without a scheduler")
  const most = { live: 0 }
  const watching = new AbortController()
  const watched = watchLive(world, most, watching.signal)
  await Promise.all([world.add("worker"), world.add("worker")])
  await requireCaughtUp(world, backMs)
  watching.abort()
  await watched
  if (most.live > MOST_QUEUED + CHUNK)
    world.complain(violationText("I25", `one schedule had ${most.live} unfinished runs at once.`))
  for (const { name, cursor } of cursors) await judgeHour(world, String(name), Number(cursor), backMs)
  for (const says of await guards.complaints()) world.complain(says)
}

async function watchLive(world: World, most: { live: number }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const rows = await world.talk.ask(
      `select count(*)::int as live from "${world.schema}".runs where schedule is not null group by schedule`,
    )
    most.live = Math.max(most.live, ...rows.map(({ live }) => Number(live)))
    await world.rest(50, signal)
  }
}

const EVERY_SECOND: When = { everyMs: 1_000, offsetMs: 0 }

/** What was missed begins after the last decision before, and ends with the first one after. */
async function judgeHour(world: World, name: string, cursorMs: number, backMs: number): Promise<void> {
  for (const says of await complaintsAboutLedger(world, name, EVERY_SECOND)) world.complain(says)
  const after = (await readLedger(world, name)).filter(({ first }) => first > cursorMs)
  const wanted = RUNS_OF_AN_HOUR[name]
  if (wanted === undefined) {
    const made = after.filter(({ outcome, first }) => outcome === "fired" && first <= backMs).length
    const missed = Math.floor(backMs / 1_000) - Math.floor(cursorMs / 1_000)
    if (made !== missed)
      world.complain(violationText("I9", `${name} has made ${made} runs of ${missed} missed seconds.`))
    return
  }
  const [stretch, ...rest] = after
  const left = stretch && Math.floor(stretch.decidedMs / 1_000) - stretch.last / 1_000
  const isFine =
    stretch?.outcome === (wanted === 1 ? "coalesced" : "skipped") &&
    left !== undefined &&
    left >= wanted &&
    left <= wanted + SLACK_SECONDS &&
    rest.slice(0, wanted).filter(({ outcome }) => outcome === "fired").length === wanted
  if (!isFine)
    world.complain(
      violationText(
        "I9",
        `${name} was to make ${wanted} runs of what was missed, and begins with ${JSON.stringify(stretch)}.`,
      ),
    )
}

const FAR: readonly Planned[] = [
  { name: "monthly", job: "tick", input: {}, cron: "0 0 1 * *" },
  { name: "yearly", job: "tick", input: {}, cron: "0 0 1 1 *" },
  { name: "leap-day", job: "tick", input: {}, cron: "0 0 29 2 *" },
]
const DELAYED_DAYS = 400

const farAway: Story = {
  id: "F48",
  ownLength: true,
  title: "timers of months and of 400 days: nothing loops, nothing comes early, each comes once",
  needs: lacksFaketime,
  tell: (folder, chance) =>
    tellOnStage(folder, chance, {
      stage: { clock: true, proxied: true, workers: 2, unjudged: UNJUDGED },
      asks: ["I9", "I10", "I12", "I24", "I25"],
      strikes: ["steps over days", "quiet seconds"],
      play: waitLong,
    }),
}

async function waitLong(world: World, chance: Chance): Promise<void> {
  const guards = await postGuards(world)
  const [producer] = world.producers()
  await world.rest(1_000)
  const before = await messagesIn(world, 2_500)
  for (const schedule of FAR) await producer?.call("putSchedule", schedule)
  const delayed: string[] = []
  for (const days of [25, 60, DELAYED_DAYS]) {
    const run = await producer?.call<string>("enqueue", { settings: { delay: `${days}d` } })
    delayed.push(`${run}`)
  }
  const after = await messagesIn(world, 2_500)
  // Both are what idle processes say; a timer that ends at once would say thousands of things.
  if (after > before * 2 + 200)
    world.complain(
      violationText("I25", `with far timers there were ${after} messages, and ${before} without any.`),
    )
  // Just short of the longest, then over it.
  const steps = [24, 26, 61 + chance.between(0, 20), DELAYED_DAYS - 1, DELAYED_DAYS + 1]
  for (const days of [...steps, Math.max(DELAYED_DAYS + 2, daysToLeapDay() + 1)]) {
    guards.setClock(days * DAY_MS)
    world.struck("steps over days")
    await requireCaughtUp(world)
    await producer?.call("round")
    await requireStarted(world, delayed, days)
  }
  for (const { name, cron } of FAR as Zoned[]) {
    for (const says of await complaintsAboutLedger(world, name, { cron, timeZone: "UTC" }))
      world.complain(says)
  }
  if ((await readLedger(world, "leap-day")).length === 0)
    world.complain(violationText("I9", "the leap day has come and gone, and is still undecided."))
  for (const says of await guards.complaints()) world.complain(says)
  complainAboutTimers(world)
}

/** How many messages the processes and the server exchanged, while nothing happened. */
async function messagesIn(world: World, ms: number): Promise<number> {
  const count = () => world.everybody().reduce((sum, { network }) => sum + (network?.counts.passed ?? 0), 0)
  const before = count()
  await world.rest(ms)
  world.struck("quiet seconds", ms / 1_000)
  return count() - before
}

async function requireStarted(world: World, delayed: readonly string[], days: number): Promise<void> {
  for (const [index, wanted] of [25, 60, DELAYED_DAYS].entries()) {
    const [row] = await world.talk.ask(
      `select count(*)::int as many from "${world.schema}".attempts where run = $1 and outcome = 'succeeded'`,
      [delayed[index]],
    )
    const expected = days > wanted ? 1 : 0
    if (Number(row?.["many"]) !== expected)
      world.complain(
        violationText(
          "I10",
          `after ${days} days a run with a delay of ${wanted} days has run ${row?.["many"]} times.`,
        ),
      )
  }
}

function daysToLeapDay(): number {
  for (let days = 1; ; days += 1) {
    const day = new Date(Date.now() + days * DAY_MS)
    if (day.getUTCMonth() === 1 && day.getUTCDate() === 29) return days
  }
}

/** Node says so when it is given a time that it cannot wait for, and does not wait then. */
function complainAboutTimers(world: World): void {
  for (const file of readdirSync(world.folder).filter((name) => name.endsWith(".err"))) {
    if (/Timeout(Overflow|Negative|NaN)Warning/.test(readFileSync(join(world.folder, file), "utf8")))
      world.complain(
        violationText("I25", `a process waited for a time that cannot be waited for; see ${file}.`),
      )
  }
}

export const calendar: readonly Story[] = [clockChanges, noScheduler, farAway]
