/**
 * A story of some weeks around a clock change: the schedules, the moments at which schedulers look, and the events in
 * between. All of it follows from a seed.
 */
import type { Told } from "../oracle/account.ts"
import { occurrencesOf, type When } from "../oracle/occurrences.ts"
import { type Chance, chanceOf } from "./seeded-random.ts"

export interface Place {
  readonly timeZone: string
  /** When its clocks are changed. */
  readonly change: string
}

export interface Story {
  readonly seed: number
  readonly kind: (typeof KINDS)[number]
  readonly startsAt: number
  readonly schedules: readonly StorySchedule[]
  readonly steps: readonly Step[]
}

export interface StorySchedule extends Pick<Told, "misfire" | "overlap" | "maxRuns" | "maxQueued"> {
  readonly name: string
  readonly when: When
  readonly jitterMs: number
  readonly occurrences: readonly number[]
}

export interface Step {
  readonly at: number
  /** One scheduler reads the due schedules at this earlier moment, and writes when all others are done. */
  readonly dozeAt: number | undefined
  /** What happens before the look. */
  readonly acts: readonly Act[]
}

export type Act =
  | { readonly what: "settle" }
  | { readonly what: "pause"; readonly name: string; readonly until: number | undefined }
  | { readonly what: "resume"; readonly name: string }
  /** A cursor that is wrong, as after a restore by hand. */
  | { readonly what: "set back"; readonly name: string }

export const KINDS = ["plain", "settled", "paused", "clock set back", "crowded"] as const
type Kind = Story["kind"]

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The stories lie in this range; occurrences are computed beyond it, so that the next one is always known. */
const BEFORE = 16 * DAY
const AFTER = 50 * DAY

/** Times that clock changes skip or repeat, and some that they leave alone. */
const CRONS = [
  "30 2 * * *",
  "15 2 * * *",
  "0 2,3 * * *",
  "30 1 * * *",
  "0 0 * * *",
  "30 0 * * *",
  "10,40 1-2 * * *",
  "*/20 0-3 * * *",
  "30 */6 * * *",
  "0 9 * * 1-5",
  "0 12 * * mon",
  "0 0 1 * *",
  "0 3 L * *",
  "0 0 */2 * *",
  "45 23 * * +sun",
  "59 59 23 * * *",
]
/** Too many for one run each. */
const FREQUENT_CRONS = ["0 * * * *", "30 * * * *", "*/15 * * * *", "*/10 1-4 * * *"]

const known = new Map<string, readonly number[]>()

/** Memory for repeated questions. */
function allAround(when: When, { change }: Place): readonly number[] {
  const key = `${JSON.stringify(when)} ${change}`
  const found = known.get(key) ?? occurrencesOf(when, Date.parse(change) - BEFORE, Date.parse(change) + AFTER)
  known.set(key, found)
  return found
}

export function storyOf(seed: number, place: Place): Story {
  const chance = chanceOf(seed)
  const kind = KINDS[seed % KINDS.length] as Kind
  const change = Date.parse(place.change)
  const startsAt = change - chance.between(4 * DAY, BEFORE - 3 * DAY)
  const policies = ["latest", "latest", "skip", "skip", "all", "all"] as const
  const schedules = policies.map((misfire, index): StorySchedule => {
    const when = someTime(chance, place, misfire)
    const isOnce = "once" in when
    const overlap = chance.pick(
      misfire === "all" ? (["allow", "queue"] as const) : (["allow", "allow", "skip", "queue"] as const),
    )
    const maxRuns = kind === "paused" || isOnce || !chance.onceIn(5) ? undefined : chance.between(1, 9)
    // Where the delay of an occurrence without a run is unknown, there is none.
    const isSeen = misfire !== "skip" && overlap !== "skip" && maxRuns === undefined
    const mayBeLate = isSeen && kind !== "paused" && kind !== "crowded"
    return {
      name: `${seed} ${index} ${misfire} ${overlap}`,
      when,
      misfire,
      overlap,
      maxRuns,
      maxQueued: kind === "crowded" ? chance.between(2, 15) : 1_000,
      jitterMs: mayBeLate && chance.onceIn(3) ? chance.between(1, 180) * MINUTE : 0,
      occurrences: allAround(when, place).filter((at) => at > startsAt),
    }
  })
  const moments = someMoments(chance, { kind, startsAt, change, schedules })
  return { seed, kind, startsAt, schedules, steps: someSteps(chance, { kind, startsAt, moments, schedules }) }
}

/** For the reader of a failure. */
export function describeStory({ schedules, ...story }: Story): string {
  const brief = schedules.map(({ occurrences: _, ...schedule }) => schedule)
  return `seed ${story.seed}: ${JSON.stringify({ ...story, schedules: brief })}`
}

function someTime(chance: Chance, { timeZone, change }: Place, misfire: Told["misfire"]): When {
  const what = chance.between(1, 12)
  if (what === 1) {
    const date = new Date(Date.parse(change) + chance.between(-1, 1) * DAY).toISOString().slice(0, 10)
    return { once: `${date}T${chance.pick(["00:15", "01:30", "02:30", "03:00", "12:00"])}`, timeZone }
  }
  if (what === 2) {
    const from = new Date(Date.parse(change) - chance.between(20, 60) * DAY).toISOString().slice(0, 10)
    return { days: chance.between(1, 3), from, at: chance.pick(["00:00", "01:45", "02:15"]), timeZone }
  }
  if (what <= 4) {
    const everyMs = chance.pick([3 * HOUR, 7 * HOUR, 90 * MINUTE, DAY, 36 * HOUR])
    return { everyMs, offsetMs: chance.between(0, 59) * MINUTE }
  }
  return { cron: chance.pick(misfire === "all" ? CRONS : [...CRONS, ...FREQUENT_CRONS]), timeZone }
}

interface Setting extends Pick<Story, "kind" | "startsAt" | "schedules"> {
  readonly change: number
}

/** When schedulers look: on time, a little late, after days, and around the clock change. */
function someMoments(chance: Chance, { kind, startsAt, change, schedules }: Setting): number[] {
  const moments: number[] = []
  const end = change + chance.between(7 * DAY, 12 * DAY)
  const around = [-1, 0, 1, 30 * MINUTE, HOUR, 90 * MINUTE, 2 * HOUR + 1]
  let now = startsAt
  while (now < end && moments.length < 8) {
    const isBehind = now < Math.max(now, ...moments)
    const isSetBack = kind === "clock set back" && moments.length > 1 && !isBehind && chance.onceIn(4)
    const then = isSetBack ? now - chance.between(MINUTE, 26 * HOUR) : somewhatLater(chance, now, schedules)
    const isAcross = now < change && then > change && chance.between(1, 4) > 1
    const wanted = isAcross ? change + chance.pick(around) : then
    now = isSetBack ? Math.max(startsAt, wanted) : Math.max(now + 1_000, wanted)
    moments.push(now)
  }
  return now < end ? [...moments, end] : moments
}

function somewhatLater(chance: Chance, now: number, schedules: readonly StorySchedule[]): number {
  if (chance.onceIn(2)) {
    const { occurrences } = chance.pick(schedules)
    const soon = occurrences.filter((at) => at > now && at <= now + 3 * DAY)
    const late = chance.pick([-1, 0, 0, 0, 1, 59_999, 60_000, 60_001, 5 * MINUTE])
    return (soon.length > 0 ? chance.pick(soon) : now + HOUR) + late
  }
  return now + (chance.onceIn(3) ? chance.between(MINUTE, 6 * HOUR) : chance.between(DAY, 5 * DAY))
}

interface Plan extends Pick<Story, "kind" | "startsAt" | "schedules"> {
  readonly moments: readonly number[]
}

function someSteps(chance: Chance, { kind, startsAt, moments, schedules }: Plan): Step[] {
  const paused = new Map<string, number | undefined>()
  let hasBeenSetBack = false
  return moments.map((at, index) => {
    const before = index === 0 ? startsAt : (moments[index - 1] as number)
    const acts: Act[] = []
    if (kind !== "plain" && index > 0 && chance.onceIn(2)) acts.push({ what: "settle" })
    if (kind === "paused") acts.push(...somePauses(chance, { at, schedules, paused }))
    const wrong = schedules.find(canBeSetBack)
    if (wrong && !hasBeenSetBack && index > 3 && (kind === "plain" || kind === "settled")) {
      hasBeenSetBack = true
      acts.push({ what: "set back", name: wrong.name })
    }
    const mayDoze =
      kind !== "paused" && at > before + 2_000 && before === Math.max(startsAt, ...moments.slice(0, index))
    const dozeAt = mayDoze && chance.onceIn(3) ? chance.between(before + 1_000, at - 1) : undefined
    return { at, dozeAt, acts }
  })
}

interface Pauses extends Pick<Story, "schedules"> {
  readonly at: number
  /** The paused schedules, and until when if that is known. */
  readonly paused: Map<string, number | undefined>
}

/** Ends some pauses and begins one, which may end by itself; occurrences due just before it are undecided. */
function somePauses(chance: Chance, { at, schedules, paused }: Pauses): Act[] {
  const acts: Act[] = []
  const candidate = chance.pick(schedules)
  const isFree = !("once" in candidate.when) && !paused.has(candidate.name)
  for (const [name, until] of paused) {
    if (until !== undefined && until <= at) paused.delete(name)
    else if (until === undefined && chance.onceIn(2)) {
      acts.push({ what: "resume", name })
      paused.delete(name)
    }
  }
  if (isFree && chance.onceIn(2)) {
    const until = chance.onceIn(3) ? at + chance.between(MINUTE, 4 * DAY) : undefined
    acts.push({ what: "pause", name: candidate.name, until })
    paused.set(candidate.name, until)
  }
  return acts
}

/** A second decision goes unnoticed, except with a run for each occurrence: the ledger knows all of them. */
function canBeSetBack({ misfire, overlap, maxRuns, jitterMs, when }: StorySchedule): boolean {
  return (
    misfire === "all" && overlap === "allow" && maxRuns === undefined && jitterMs === 0 && !("once" in when)
  )
}
