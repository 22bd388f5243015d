/**
 * All schedules of one operation on one stage: their previous runs are set up, the operation is called, the state is
 * read, the runs are let go.
 *
 * They share an app and its clock, and nothing else: each has a name, an overlap key and runs of its own.
 */
import { setImmediate } from "node:timers/promises"
import { vi } from "vitest"
import { CarillonError } from "../../../src/errors.ts"
import { defineJob, type ScheduleOptions } from "../../../src/index.ts"
import { createGate } from "../gate-opened-by-test.ts"
import type { WatchedApp, WatchedKit } from "../watched-app.ts"
import { type Cell, nameOf, type Operation, type Outcome, type Previous, type Refusal } from "./axes.ts"
import { EDITED } from "./operation-table.ts"
import { type Observed, readPicture } from "./read-state.ts"

interface Input {
  readonly cell: string
  readonly previous: Previous
  readonly words: "old" | "new"
}

const BY = { actor: "ada", reason: "a test" }
/** Far more slots than runs; `narrow` is where one run holds the only slot. */
const POOLS = { default: 1_000, narrow: 1 }

export interface Played {
  /** By the name of the cell. */
  readonly outcomes: Readonly<Record<string, Outcome>>
  /** Cells in which two handlers ran at once. */
  readonly overlapped: ReadonlySet<string>
  /** Cells in which a handler was told to end. */
  readonly told: ReadonlySet<string>
}

export async function play(kit: WatchedKit, operation: Operation, cells: readonly Cell[]): Promise<Played> {
  const stage = await open(kit)
  const { app, starts } = stage
  const named = new Map(cells.map((cell) => [nameOf(cell), cell]))
  const ids = new Map<string, string>()
  const create = async (...states: readonly Previous[]) => {
    const made = [...named].filter(([, { previous }]) => states.includes(previous))
    await Promise.all(
      made.map(async ([name, cell]) => ids.set((await app.schedules.create(stage.optionsOf(cell))).id, name)),
    )
  }
  await stage.takeSlot()
  await create("behind")
  await stage.at("09:00")
  await stage.ticks()
  await stage.at("09:05")
  await create("running", "waiting", "retrying", "dead")
  await stage.at("09:10")
  await stage.ticks()
  const failing = cells.filter(({ previous }) => previous === "retrying" || previous === "dead").length
  await vi.waitUntil(
    () => app.events.filter((event) => "outcome" in event && event.outcome === "failed").length === failing,
    10_000,
  )
  await stage.at("09:15")
  await create("none")
  stage.endSetUp()

  const answers = await OPERATE[operation](stage, [...named])
  const afterwards = await readPicture(app.database, ids)
  starts.clear()
  stage.letGo()
  await app.drain()
  const atLast = await readPicture(app.database, ids)
  await app.close()
  const outcome = (name: string): Outcome => {
    const { ledger, live, schedule } = afterwards.get(name) as Observed
    const { ends } = atLast.get(name) as Observed
    return { answer: answers.get(name) ?? "", ledger, live, schedule, starts: starts.get(name) ?? [], ends }
  }
  return {
    outcomes: Object.fromEntries([...named.keys()].map((name) => [name, outcome(name)])),
    overlapped: stage.overlapped,
    told: stage.told,
  }
}

/** The answers for an impossible schedule: of the create, and of the operation. */
export async function refuse(app: WatchedApp, cell: Cell): Promise<Refusal> {
  const options = scheduleOf(cell, "old")
  const refused = await codeOf(app.schedules.create(options))
  const { name } = options
  const answered = async () => {
    switch (cell.operation) {
      case "pause":
        return codeOf(app.schedules.pause(name, BY))
      case "resume":
      case "resume of an active one":
        return codeOf(app.schedules.resume(name, BY))
      case "edit of the times":
        return codeOf(app.schedules.put({ ...options, cron: "45 * * * *" } as typeof options))
      // With another misfire it would be no edit, but a schedule that can be made.
      case "edit of the misfire":
      case "edit of the input":
        return codeOf(app.schedules.put(scheduleOf(cell, "new")))
      case "delete":
        return String(await app.schedules.delete(name, BY))
      case "run now":
        return codeOf(app.schedules.runNow(name, BY))
      default:
        return ""
    }
  }
  return { refused, answer: await answered() }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => (error instanceof CarillonError ? error.code : String(error)),
  )
}

type Stage = Awaited<ReturnType<typeof open>>

async function open(kit: WatchedKit) {
  const gate = createGate()
  const starts = new Map<string, string[]>()
  const active = new Map<string, number>()
  const overlapped = new Set<string>()
  const told = new Set<string>()
  let isSettingUp = true

  const run: Handler = async (input, at, signal) => {
    const { cell, previous } = input
    starts.set(cell, [...(starts.get(cell) ?? []), at])
    active.set(cell, (active.get(cell) ?? 0) + 1)
    if ((active.get(cell) ?? 0) > 1) overlapped.add(cell)
    try {
      if (isSettingUp && (previous === "retrying" || previous === "dead")) throw new Error("not yet")
      // Ignores its signal on purpose: a handler that is told to end takes its time.
      await gate.opened
      if (signal.aborted) told.add(cell)
      await setImmediate()
    } finally {
      active.set(cell, (active.get(cell) ?? 1) - 1)
    }
  }
  const job = jobOf(run)
  const holder = defineJob({ name: "holder", pool: "narrow", run: () => gate.opened })
  const app = await kit.app({ jobs: [job, holder], pools: POOLS, at: "2026-03-02T08:55Z" })

  return {
    app,
    starts,
    overlapped,
    told,
    optionsOf: (cell: Cell, words: Input["words"] = "old") => scheduleOf(cell, words, job),
    at: (time: string) => app.clock.set(`2026-03-02T${time}Z`),
    /** Until the other loops have processed the results of one tick. */
    ticks: async () => {
      for (let times = 0; times < 3; times += 1) await app.tick()
    },
    takeSlot: async () => {
      await app.enqueue(holder)
      await app.tick()
    },
    endSetUp: () => {
      isSettingUp = false
    },
    letGo: gate.open,
  }
}

type Handler = (input: Input, at: string, signal: AbortSignal) => Promise<void>

const jobOf = (run: Handler) =>
  defineJob({
    name: "work",
    run: (input: Input, { occurrence, signal }) =>
      run(input, occurrence?.toISOString().slice(11, 16) ?? "by hand", signal),
  })

function scheduleOf(cell: Cell, words: Input["words"], job = jobOf(async () => {})): ScheduleOptions<Input> {
  const { misfire, overlap, previous } = cell
  return {
    name: nameOf(cell),
    cron: "*/10 * * * *",
    job,
    input: { cell: nameOf(cell), previous, words },
    misfire,
    overlap,
    ...(previous === "waiting" && { pool: "narrow" }),
    retry: previous === "dead" ? { attempts: 1 } : { attempts: 3, delay: "12h" },
    // Longer than any test takes: a replaced run ends by itself.
    ...(overlap === "replace" && { replaceGrace: "1d" }),
  }
}

type Answers = ReadonlyMap<string, string>
type Operate = (stage: Stage, cells: readonly (readonly [name: string, cell: Cell])[]) => Promise<Answers>

async function each(
  cells: readonly (readonly [string, Cell])[],
  ask: (name: string, cell: Cell) => Promise<string>,
): Promise<Answers> {
  return new Map(await Promise.all(cells.map(async ([name, cell]) => [name, await ask(name, cell)] as const)))
}

/** No tick in between: the scheduler is down. */
const awayUntil =
  (time: string): Operate =>
  async ({ at, ticks }) => {
    await at(time)
    await ticks()
    return new Map()
  }

const edit =
  (options: (stage: Stage, cell: Cell) => ScheduleOptions<Input>): Operate =>
  async (stage, cells) => {
    await stage.at("09:35")
    const answers = await each(cells, async (_, cell) => {
      const { outcome, schedule } = await stage.app.schedules.put(options(stage, cell), BY)
      return `${outcome}, next ${schedule.next?.occurrence.toISOString().slice(11, 16)}`
    })
    await stage.ticks()
    return answers
  }

const OPERATE: Readonly<Record<Operation, Operate>> = {
  due: awayUntil("09:20"),
  late: awayUntil("09:45"),
  "a little late": awayUntil("09:40:30"),
  pause: async ({ app, at, ticks }, cells) => {
    const answers = await each(cells, async (name) => String(await app.schedules.pause(name, BY)))
    await at("09:20")
    await ticks()
    return answers
  },
  resume: async ({ app, at, ticks }, cells) => {
    await at("09:35")
    await Promise.all(cells.map(([name]) => app.schedules.pause(name, BY)))
    await at("09:55")
    const answers = await each(cells, async (name) => String(await app.schedules.resume(name, BY)))
    await ticks()
    return answers
  },
  "resume of an active one": async ({ app, ticks }, cells) => {
    const answers = await each(cells, async (name) => String(await app.schedules.resume(name, BY)))
    await ticks()
    return answers
  },
  "edit of the times": edit(
    (stage, cell) => ({ ...stage.optionsOf(cell), cron: "45 * * * *" }) as ScheduleOptions<Input>,
  ),
  "edit of the input": edit((stage, cell) => stage.optionsOf(cell, "new")),
  "edit of the misfire": edit((stage, cell) => ({ ...stage.optionsOf(cell), misfire: EDITED[cell.misfire] })),
  delete: async ({ app, at, ticks }, cells) => {
    const answers = await each(cells, async (name) => String(await app.schedules.delete(name, BY)))
    await at("09:20")
    await ticks()
    return answers
  },
  "run now": async ({ app, ticks }, cells) => {
    const answers = await each(cells, async (name) => {
      const answer = await app.schedules.runNow(name, BY)
      return "run" in answer ? "a run" : `skipped: ${answer.skipped}`
    })
    await ticks()
    return answers
  },
}
