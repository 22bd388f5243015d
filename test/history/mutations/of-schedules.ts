/** Faults in what schedules make: too much, too little, at the wrong time, or after they were told to rest. */
import type { FireRow, ScheduleRow } from "../../support/history/final-read.ts"
import { runOfOccurrence } from "../../support/history/occurrence-run.ts"
import { pausesOf } from "../../support/history/schedule-life.ts"
import { printable } from "../model/world.ts"
import { addEntries, editRead, editRow, type Mutation, type Scene } from "./edit.ts"

function editFires(scene: Scene, change: (fire: FireRow) => FireRow | readonly FireRow[]) {
  return editRead(scene, { fires: scene.finalRead.fires.flatMap(change) })
}

function editFire(scene: Scene, fire: FireRow | undefined, change: Partial<FireRow>) {
  return fire && editFires(scene, (other) => (other === fire ? { ...fire, ...change } : other))
}

function editSchedule(scene: Scene, row: ScheduleRow | undefined, change: Partial<ScheduleRow>) {
  const { schedules } = scene.finalRead
  return (
    row &&
    editRead(scene, { schedules: schedules.map((other) => (other === row ? { ...row, ...change } : other)) })
  )
}

function fired({ finalRead }: Scene): FireRow[] {
  return finalRead.fires.filter(({ outcome }) => outcome === "fired")
}

function stretches({ finalRead }: Scene): FireRow[] {
  return finalRead.fires.filter(({ run }) => run === null)
}

export const WRONG_OCCURRENCES: readonly Mutation[] = [
  {
    name: "an occurrence is forgotten by the ledger",
    breaks: "I9",
    beside: ["I26"],
    apply: (scene) => {
      const fire = scene.choose(scene.finalRead.fires.filter((each) => isPlain(scene, each)))
      return fire && editFires(scene, (other) => (other === fire ? [] : other))
    },
  },
  {
    name: "an occurrence is decided twice",
    breaks: "I9",
    beside: ["I26"],
    apply: (scene) => {
      const fire = scene.choose(fired(scene))
      const again = { outcome: "skipped", run: null, dueAtUs: null, generation: 2 } as const
      return fire && editFires(scene, (other) => (other === fire ? [fire, { ...fire, ...again }] : other))
    },
  },
  {
    name: "something fires at a time that is none of the schedule's",
    breaks: "I9",
    beside: ["I10", "I13"],
    apply: (scene) => {
      const fire = scene.choose(fired(scene))
      if (!fire) return undefined
      const occurrenceUs = fire.occurrenceUs + 137_000
      const run = runOfOccurrence(fire.schedule, occurrenceUs / 1_000, 1)
      return editFire(scene, fire, { occurrenceUs, lastUs: occurrenceUs, dueAtUs: occurrenceUs, run })
    },
  },
  {
    name: "a stretch counts one too many",
    breaks: "I9",
    apply: (scene) => {
      const stretch = scene.choose(stretches(scene))
      return editFire(scene, stretch, { count: (stretch?.count ?? 0) + 1 })
    },
  },
  {
    name: "a run of an occurrence has an id of its own",
    breaks: "I9",
    apply: (scene) => {
      const fire = scene.choose(fired(scene))
      return editFire(scene, fire, { run: runOfOccurrence(fire?.schedule ?? "", 7, 1) })
    },
  },
  {
    name: "an occurrence has fired and its run is nowhere",
    breaks: "I9",
    beside: ["I33"],
    apply: ({ history, finalRead, choose, ...scene }) => {
      const run = choose(fired({ history, finalRead, choose, ...scene }))?.run
      if (!run) return undefined
      return {
        history: history.filter((entry) => !("run" in entry) || entry.run !== run),
        finalRead: {
          ...finalRead,
          attempts: finalRead.attempts.filter((row) => row.run !== run),
          deadLetters: finalRead.deadLetters.filter((row) => row.run !== run),
          audit: finalRead.audit.filter((row) => row.run !== run),
        },
      }
    },
  },
  {
    name: "an occurrence has two runs",
    breaks: "I9",
    beside: ["I7", "I24", "I27", "I33"],
    apply: (scene) => {
      const fire = scene.choose(fired(scene))
      const row = fire && scene.finalRead.attempts.find(({ run }) => run === fire.run)
      if (!row) return undefined
      const twin = {
        ...row,
        run: "twin",
        claim: null,
        lease: null,
        charged: false,
        runState: "cancelled",
      } as const
      return editRead(scene, { attempts: [...scene.finalRead.attempts, { ...twin, outcome: "cancelled" }] })
    },
  },
  {
    name: "another occurrence stands for one that was to have a run of its own",
    breaks: "I9",
    beside: ["I26"],
    apply: (scene) => leaveOut(scene, "latest"),
  },
  {
    name: "an occurrence is left out as too late where none is",
    breaks: "I9",
    beside: ["I26"],
    apply: (scene) => leaveOut(scene, "misfire"),
  },
  {
    name: "an occurrence is left out as one too many where there is no bound",
    breaks: "I9",
    beside: ["I26"],
    apply: (scene) => leaveOut(scene, "limit"),
  },
  {
    name: "each that was missed is made up for where the newest would do",
    breaks: "I9",
    apply: (scene) => makeUp(scene, { misfire: "latest" }),
  },
  {
    name: "more is made up for than there may be",
    breaks: "I9",
    apply: (scene) => makeUp(scene, { misfire: { mode: "all", max: 1 } }),
  },
  {
    name: "something is made up for that came too long ago",
    breaks: "I9",
    apply: (scene) => makeUp(scene, { misfire: { mode: "all", within: 500 } }),
  },
  {
    name: "a schedule goes on without a word about what came before",
    breaks: "I9",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.schedules)
      return editSchedule(scene, row, { cursorUs: (row?.cursorUs ?? 0) + 20_000_000 })
    },
  },
]

/** Schedules that have a run for each of their times, whatever happens. */
function completeOf({ finalRead }: Scene): ScheduleRow[] {
  const { audit, schedules } = finalRead
  // A resume may say that the newest shall stand for the others.
  const resumed = new Set(audit.flatMap((row) => (row.action === "schedule.resume" ? [row.schedule] : [])))
  return schedules.filter(
    ({ id, settings, version }) => settings["misfire"] === "all" && version === 1 && !resumed.has(id),
  )
}

/** As if it had decided about its last three runs at once, under another policy. */
function makeUp(scene: Scene, policy: Readonly<Record<string, unknown>>) {
  const made = completeOf(scene).map((row) => ({
    row,
    last: fired(scene)
      .filter(({ schedule }) => schedule === row.id)
      .slice(-3),
  }))
  const { row, last = [] } = scene.choose(made.filter(({ last }) => last.length === 3)) ?? {}
  const decidedAtUs = last.at(-1)?.decidedAtUs
  if (!row || decidedAtUs === undefined) return undefined
  const { fires, schedules } = scene.finalRead
  return editRead(scene, {
    fires: fires.map((each) => (last.includes(each) ? { ...each, decidedAtUs } : each)),
    schedules: schedules.map((each) =>
      each === row ? { ...row, settings: { ...row.settings, ...policy } } : each,
    ),
  })
}

/** Takes its run from the last but one occurrence of a schedule that has a run for each, as if it was passed over. */
function leaveOut(scene: Scene, reason: "latest" | "limit" | "misfire") {
  const row = scene.choose(completeOf(scene))
  const fires = fired(scene).filter(({ schedule }) => schedule === row?.id)
  const [fire, next] = fires.slice(-2)
  if (!row || !fire?.run || !next) return undefined
  const { run } = fire
  const [outcome, intoUs] =
    reason === "latest" ? (["coalesced", next.occurrenceUs] as const) : (["skipped", null] as const)
  const left = { ...fire, outcome, reason, intoUs, run: null, dueAtUs: null }
  const others = <T extends { readonly run: string | null }>(rows: readonly T[]) =>
    rows.filter((each) => each.run !== run)
  const { schedules, fires: ledger, attempts, deadLetters, audit } = scene.finalRead
  return printable({
    history: scene.history.filter((entry) => !("run" in entry) || entry.run !== run),
    finalRead: {
      ...scene.finalRead,
      attempts: others(attempts),
      deadLetters: others(deadLetters),
      audit: others(audit),
      fires: ledger.map((each) => (each === fire ? left : each)),
      schedules: schedules.map((each) => (each === row ? { ...row, fired: row.fired - 1 } : each)),
    },
  })
}

/** Not so near to an edit that the counting times are unknown. */
function isPlain({ finalRead }: Scene, { schedule, occurrenceUs, lastUs, intoUs }: FireRow): boolean {
  const isNamed = finalRead.fires.some(
    (other) => other.schedule === schedule && other.intoUs === occurrenceUs,
  )
  const edits = finalRead.audit.filter((row) => row.schedule === schedule && row.action === "schedule.put")
  const isFar = edits.every(({ atUs }) => lastUs < atUs - 10_000_000 || occurrenceUs > atUs)
  return isFar && !isNamed && intoUs === null
}

export const SETBACKS: readonly Mutation[] = [
  {
    name: "a cursor is seen to go back",
    breaks: "I12",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.schedules)
      if (!row) return undefined
      const seen = { op: "cursor", schedule: row.id, version: row.version } as const
      const { cursorUs } = row
      return addEntries(scene, { ...seen, cursorUs }, { ...seen, cursorUs: cursorUs - 1_000_000 })
    },
  },
  {
    name: "a cursor is lower in the end than a process has seen it",
    breaks: "I12",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.schedules)
      if (!row) return undefined
      const { id: schedule, version, cursorUs } = row
      return addEntries(scene, { op: "cursor", schedule, version, cursorUs: cursorUs + 1 })
    },
  },
  {
    name: "an edit is undone",
    breaks: "I12",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.schedules)
      if (!row) return undefined
      const { id: schedule, version, cursorUs } = row
      const seen = { op: "cursor", schedule, cursorUs } as const
      return addEntries(scene, { ...seen, version: version + 1 }, { ...seen, version })
    },
  },
]

/** Each occurrence that was passed over because of a pause, and is not in its last moments. */
function slept(scene: Scene): FireRow[] {
  const { audit, nowUs, fires } = scene.finalRead
  const inOrder = [...audit].sort((a, b) => a.atUs - b.atUs)
  return fires.filter(({ reason, schedule, occurrenceUs }) => {
    const pauses = pausesOf(
      inOrder.filter((row) => row.schedule === schedule),
      nowUs,
    )
    return (
      reason === "paused" &&
      pauses.some(({ fromUs, toUs }) => occurrenceUs > fromUs && occurrenceUs < toUs - 2_000_000)
    )
  })
}

export const RESTLESS: readonly Mutation[] = [
  {
    name: "a paused schedule makes a run",
    breaks: "I13",
    beside: ["I9", "I26"],
    apply: (scene) => {
      const fire = scene.choose(slept(scene))
      if (!fire) return undefined
      const { occurrenceUs, schedule } = fire
      const run = runOfOccurrence(schedule, occurrenceUs / 1_000, 1)
      const made = { outcome: "fired", reason: null, run, count: 1, lastUs: occurrenceUs } as const
      return editFire(scene, fire, { ...made, dueAtUs: occurrenceUs, decidedAtUs: occurrenceUs + 20_000 })
    },
  },
  {
    name: "what came during a pause is made up for when it is over",
    breaks: "I13",
    beside: ["I9", "I26"],
    apply: (scene) => {
      const fire = scene.choose(slept(scene))
      if (!fire) return undefined
      const { occurrenceUs, schedule } = fire
      const run = runOfOccurrence(schedule, occurrenceUs / 1_000, 1)
      const made = { outcome: "fired", reason: null, run, count: 1, lastUs: occurrenceUs } as const
      return editFire(scene, fire, { ...made, dueAtUs: occurrenceUs })
    },
  },
  {
    name: "an edit gives another job to a run that was made before it",
    breaks: "I13",
    beside: ["I20"],
    apply: (scene) => {
      const row = scene.choose(madeBefore(scene))
      return row && editRow(scene, row, { job: "other" })
    },
  },
  {
    name: "an edit moves a run that was made before it",
    breaks: "I13",
    beside: ["I10", "I27"],
    apply: (scene) => {
      const row = scene.choose(madeBefore(scene))
      return row && editRow(scene, row, { dueAtUs: row.dueAtUs - 1_000_000 })
    },
  },
]

/** The first attempts of runs that were made before an edit of their schedule. */
function madeBefore({ finalRead, runs }: Scene) {
  const edits = finalRead.audit.filter(({ action }) => action === "schedule.put")
  return runs.flatMap(({ rows, fires }) => {
    const [fire] = fires
    const [row] = rows
    const isBefore = edits.some(
      ({ schedule, atUs }) => schedule === fire?.schedule && atUs > fire.decidedAtUs,
    )
    return isBefore && row?.cause === null ? [row] : []
  })
}
