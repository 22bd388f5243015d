/** Runs one row: sets the stage, lets the fault strike, heals, demands recovery, drains, and checks the history. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Fault, isStory, type Story } from "./fault.ts"
import { judge, type Verdict } from "./judge.ts"
import { createObserver } from "./observer.ts"
import { cancelAtWork, drain, RECOVER_MS, recover, stopAll } from "./recovery.ts"
import { SCHEDULES } from "./schedules.ts"
import { createChance } from "./seeded-random.ts"
import { openWorld, type World } from "./world.ts"

export interface RowResult extends Verdict {
  readonly id: string
  readonly title: string
  readonly seed: number
  readonly result: "held" | "violated" | "not yet"
  /** What was done, or what is missing for it. */
  readonly done: string
  readonly seconds: number
  /** Where everything was kept. */
  readonly folder?: string
}

export interface RowOptions {
  readonly seed: number
  readonly seconds: number
  /** Keeps the folder with the history, whatever comes out. */
  readonly keep: boolean
}

const RATE = 35
const WARM_UP_MS = 2_000
const NOTHING = { judged: [], complaints: [] }

export async function runRow(row: Fault | Story, options: RowOptions): Promise<RowResult> {
  const { id, title } = row
  const beganMs = performance.now()
  const about = { id, title, seed: options.seed, ...NOTHING }
  const needs = row.needs?.()
  if (needs !== undefined) return { ...about, result: "not yet", done: `needs ${needs}`, seconds: 0 }
  const folder = await mkdtemp(join(tmpdir(), `carillon-chaos-${id}-`))
  await chmod(folder, 0o755)
  const verdict = await attempt(row, folder, options)
  const isKept = options.keep || verdict.complaints.length > 0
  if (!isKept) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  return {
    ...about,
    ...verdict,
    result: verdict.complaints.length === 0 ? "held" : "violated",
    seconds: Math.round((performance.now() - beganMs) / 1_000),
    ...(isKept && { folder }),
  }
}

type Outcome = Verdict & { readonly done: string }

async function attempt(row: Fault | Story, folder: string, options: RowOptions): Promise<Outcome> {
  const chance = createChance(`${row.id}/${options.seed}`)
  try {
    if (isStory(row)) return await row.tell(folder, chance, options.seconds)
    const world = await openWorld(folder, row.stage ?? {}, chance.fork("stage"))
    try {
      return await play(row, world, options.seconds, chance.fork("fault"))
    } finally {
      await world.close()
    }
  } catch (error) {
    const says = error instanceof Error ? error.stack : String(error)
    return { ...NOTHING, done: "the row could not be finished", complaints: [`${says}`] }
  }
}

async function play(fault: Fault, world: World, asked: number, chance: ReturnType<typeof createChance>) {
  const { stage = {} } = fault
  const withinMs = stage.recover ? stage.recover.seconds * 1_000 : RECOVER_MS
  const observer = createObserver(world)
  const [producer] = world.producers()
  for (const schedule of stage.schedules ?? SCHEDULES) await producer?.call("putSchedule", schedule)
  await world.load(stage.rate ?? RATE)
  observer.begin()
  await world.rest(WARM_UP_MS)
  if (stage.quiet) await observer.quiet()

  await strike(fault, world, (stage.seconds?.(asked) ?? asked) * 1_000, chance)
  observer.record("healed", {})
  const recoveredMs = Math.round(await recover(world, withinMs))
  await cancelAtWork(world, withinMs)
  await drain(world, withinMs)
  await observer.end()
  await observer.rest()
  await stopAll(world)
  await observer.last()
  const { examination, ...verdict } = await judge(world, fault)
  const more = (await fault.expect?.(world, examination)) ?? []
  const missing = fault.strikes.filter((name) => !world.strikes.get(name))
  return {
    ...verdict,
    recoveredMs,
    done: describeStrikes(world),
    complaints: [
      ...missing.map((name) => `The fault never struck: no ${name}.`),
      ...world.complaints,
      ...verdict.complaints,
      ...more,
    ],
  }
}

async function strike(
  fault: Fault,
  world: World,
  ms: number,
  chance: ReturnType<typeof createChance>,
): Promise<void> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), ms)
  try {
    await fault.inject(world, chance, ending.signal)
  } finally {
    clearTimeout(timer)
    ending.abort()
    await fault.heal?.(world)
  }
}

function describeStrikes({ strikes }: World): string {
  return [...strikes].map(([name, count]) => `${count} ${name}`).join(", ")
}
