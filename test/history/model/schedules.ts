/**
 * Schedules as they should be: every occurrence decided once, in the ledger, with its run or in a stretch.
 *
 * One lets its runs overlap, another leaves an occurrence out while a run of it is not finished. After a pause or a
 * downtime the newest occurrence stands for the others; a third makes a run of each.
 */
import type { FireRow, ScheduleRow } from "../../support/history/final-read.ts"
import { runOfOccurrence } from "../../support/history/occurrence-run.ts"
import type { NewRun, Queue } from "./queue.ts"

export type Schedules = ReturnType<typeof createSchedules>

interface Timed extends ScheduleRow {
  readonly stepMs: number
  readonly overlap: "allow" | "skip"
  readonly misfire: "latest" | "all"
  readonly pausedAtMs: number | undefined
}

/** Ways to say the same thing: every so many seconds of the clock. */
const EVERY: readonly (readonly [spec: ScheduleRow["spec"], stepMs: number])[] = [
  [{ every: "1s" }, 1_000],
  [{ cron: "*/2 * * * * *", timeZone: "Europe/Oslo" }, 2_000],
  [{ every: 3_000 }, 3_000],
  [{ cron: "*/5 * * * * *" }, 5_000],
]

export function createSchedules(nowUs: () => number, queue: Queue, newRun: (of: Partial<NewRun>) => NewRun) {
  const rows = new Map<string, Timed>()
  const fires: FireRow[] = []
  const nowMs = () => Math.floor(nowUs() / 1_000)

  function make(name: string, policy: Pick<Timed, "overlap" | "misfire">, kind: number): void {
    const [spec, stepMs] = EVERY[kind % EVERY.length] as (typeof EVERY)[number]
    const id = `0199f3a0-0000-7000-8000-00000000000${rows.size}`
    const createdAtUs = nowUs()
    const counters = { version: 1, fired: 0, cursorUs: createdAtUs, nextAtUs: null, createdAtUs }
    const base = { id, name, job: "tick", spec, settings: policy, state: "active", ...counters }
    rows.set(name, { ...base, ...policy, stepMs, pausedAtMs: undefined })
  }
  make("each second", { misfire: "latest", overlap: "allow" }, 0)
  make("alone", { misfire: "latest", overlap: "skip" }, 1)
  make("every one", { misfire: "all", overlap: "allow" }, 3)

  /** Those that are planned after the cursor, up to an instant. */
  function planned({ cursorUs, stepMs }: Timed, toMs: number): number[] {
    const found: number[] = []
    for (let at = (Math.floor(cursorUs / 1_000 / stepMs) + 1) * stepMs; at <= toMs; at += stepMs)
      found.push(at)
    return found
  }

  function write(row: Timed, at: readonly number[], how: Pick<FireRow, "outcome"> & Partial<FireRow>): void {
    fires.push({
      schedule: row.id,
      occurrenceUs: (at[0] as number) * 1_000,
      lastUs: (at.at(-1) as number) * 1_000,
      count: at.length,
      generation: 1,
      decidedAtUs: nowUs(),
      ...{ reason: null, dueAtUs: null, run: null, intoUs: null },
      ...how,
    })
  }

  function fire(row: Timed, at: number): void {
    const [run, occurrenceUs] = [runOfOccurrence(row.id, at, 1), at * 1_000]
    write(row, [at], { outcome: "fired", run, dueAtUs: occurrenceUs })
    const origin = { schedule: row.id, occurrenceUs, dueAtUs: occurrenceUs }
    queue.insert(newRun({ run, job: row.job, key: null, remembered: false, limits: [], delayMs: 0 }), origin)
  }

  /** Decides what is due up to an instant: each, or the newest for all. */
  function decide(row: Timed, toMs: number): Timed {
    const due = planned(row, toMs)
    return row.misfire === "all" ? due.reduce(fireOne, row) : decideNewest(row, due)
  }

  function fireOne(row: Timed, at: number): Timed {
    fire(row, at)
    return { ...row, cursorUs: at * 1_000, fired: row.fired + 1 }
  }

  function decideNewest(row: Timed, due: readonly number[]): Timed {
    const newest = due.at(-1)
    if (newest === undefined) return row
    const others = due.slice(0, -1)
    const occurrenceUs = newest * 1_000
    const isLeftOut = row.overlap === "skip" && queue.runs().some(({ schedule }) => schedule === row.id)
    if (others.length > 0)
      write(row, others, { outcome: "coalesced", reason: "latest", intoUs: occurrenceUs })
    if (isLeftOut) write(row, [newest], { outcome: "skipped", reason: "overlap" })
    else fire(row, newest)
    return { ...row, cursorUs: occurrenceUs, fired: row.fired + (isLeftOut ? 0 : 1) }
  }

  function recordAudit({ id, job, spec, version, state }: Timed, action: string): void {
    const before = { job, spec, version, state }
    queue.recordOther({ action, atUs: nowUs(), run: null, schedule: id, before })
  }

  return {
    names: () => [...rows.keys()],
    row: (name: string) => rows.get(name) as ScheduleRow,
    tick: (): void => {
      for (const [name, row] of rows) if (row.state === "active") rows.set(name, decide(row, nowMs()))
    },
    pause: (name: string): boolean => {
      const row = rows.get(name)
      if (row?.state !== "active") return false
      rows.set(name, { ...row, state: "paused", pausedAtMs: nowMs() })
      recordAudit(row, "schedule.pause")
      return true
    },
    resume: (name: string): boolean => {
      const row = rows.get(name)
      if (row?.pausedAtMs === undefined) return false
      const before = decide(row, row.pausedAtMs - 1)
      const at = nowMs()
      const passed = planned(before, at)
      if (passed.length > 0) write(row, passed, { outcome: "skipped", reason: "paused" })
      rows.set(name, { ...before, state: "active", pausedAtMs: undefined, cursorUs: at * 1_000 })
      recordAudit(row, "schedule.resume")
      return true
    },
    /** Other times, from now on. */
    edit: (name: string, kind: number): number | undefined => {
      const row = rows.get(name)
      if (row?.state !== "active") return undefined
      const at = nowMs()
      const [spec, stepMs] = EVERY[kind % EVERY.length] as (typeof EVERY)[number]
      const settled = decide(row, at)
      const version = row.version + 1
      rows.set(name, { ...settled, spec, stepMs, version, cursorUs: Math.max(settled.cursorUs, at * 1_000) })
      recordAudit(row, "schedule.put")
      return version
    },
    read: () => ({ schedules: [...rows.values()], fires: [...fires] }),
  }
}
