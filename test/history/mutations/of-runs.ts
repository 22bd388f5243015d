/** Faults in what becomes of runs: lost, made from nothing, made twice. */
import { entriesOf } from "../../support/history/facts.ts"
import {
  addEntries,
  addLive,
  addRow,
  ENQUEUES,
  editHistory,
  editRead,
  editRow,
  endOf,
  forget,
  HANDLING,
  isAcknowledged,
  isEnqueued,
  type Mutation,
  readyRun,
} from "./edit.ts"

export const LOSSES: readonly Mutation[] = [
  {
    name: "an acknowledged run is forgotten by everything but its client",
    breaks: "I1",
    beside: ["I20", "I33"],
    apply: ({ runs, choose, history, finalRead }) => {
      const run = choose(runs.filter(isAcknowledged))?.run
      if (run === undefined) return undefined
      const known = history.filter(
        (entry) => !("run" in entry) || entry.run !== run || ENQUEUES.some((op) => op === entry.op),
      )
      const others = <T extends { run: string | null }>(rows: readonly T[]) =>
        rows.filter((row) => row.run !== run)
      return {
        history: known,
        finalRead: {
          ...finalRead,
          attempts: others(finalRead.attempts),
          deadLetters: others(finalRead.deadLetters),
          audit: others(finalRead.audit),
        },
      }
    },
  },
  {
    name: "an acknowledged run is left behind",
    breaks: "I1",
    beside: ["I24", "I33"],
    apply: (scene) => {
      const asked = { op: "enq_invoke", run: "left" } as const
      return addLive(addEntries(scene, asked, { op: "enq_ok", run: "left", created: true }), readyRun("left"))
    },
  },
  {
    name: "an acknowledged run is gone, and no attempt says how it ended",
    breaks: "I1",
    beside: ["I6", "I7", "I8", "I20", "I23"],
    apply: (scene) => {
      const end = scene.choose(scene.runs.filter(isAcknowledged).flatMap((run) => endOf(run) ?? []))
      return end && editRow(scene, end, { runState: null })
    },
  },
  {
    name: "a run has succeeded that was never started",
    breaks: "I1",
    apply: (scene) => {
      const succeeded = scene.runs.filter(
        (run) => isAcknowledged(run) && endOf(run)?.runState === "succeeded",
      )
      const run = scene.choose(succeeded)?.run
      return run === undefined ? undefined : forget(scene, run, HANDLING)
    },
  },
  {
    name: "a run is dead that was never tried",
    breaks: "I1",
    apply: (scene) => {
      const dead = scene.runs.filter(
        (run) =>
          isAcknowledged(run) &&
          endOf(run)?.runState === "dead" &&
          !run.rows.some(({ outcome, charged }) => outcome === "lost" && charged),
      )
      const run = scene.choose(dead)?.run
      return run === undefined ? undefined : forget(scene, run, HANDLING)
    },
  },
  {
    name: "a dead letter disappears",
    breaks: "I1",
    apply: (scene) => {
      const { deadLetters } = scene.finalRead
      const run = scene.choose(
        scene.runs.filter((facts) => isAcknowledged(facts) && facts.deadLetters.length > 0),
      )
      return run && editRead(scene, { deadLetters: deadLetters.filter((letter) => letter.run !== run.run) })
    },
  },
  {
    name: "a run ends as cancelled that was never cancelled",
    breaks: "I1",
    apply: (scene) => {
      const cancelled = scene.runs.filter(
        (run) => isAcknowledged(run) && endOf(run)?.runState === "cancelled",
      )
      const run = scene.choose(cancelled)?.run
      if (run === undefined) return undefined
      const silent = forget(scene, run, ["cancel_invoke", "cancel_ok", "end"])
      const { audit } = scene.finalRead
      return editRead(silent, {
        audit: audit.filter((row) => row.run !== run || row.action !== "run.cancel"),
      })
    },
  },
  {
    name: "a run expires that had all the time in the world",
    breaks: "I1",
    apply: (scene) => {
      const expired = scene.runs.filter((run) => isAcknowledged(run) && endOf(run)?.runState === "expired")
      const run = scene.choose(expired)?.run
      if (run === undefined) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" && entry.run === run ? { ...entry, mayExpire: false } : entry,
      )
    },
  },
]

export const PHANTOMS: readonly Mutation[] = [
  {
    name: "a run is there that was never enqueued",
    breaks: "I2",
    apply: (scene) => {
      const run = scene.choose(scene.runs.filter(isEnqueued))?.run
      return run === undefined ? undefined : forget(scene, run, ENQUEUES)
    },
  },
  {
    name: "a run is started before it is enqueued",
    breaks: "I2",
    apply: (scene) => {
      const start = scene.choose(
        scene.runs.filter(isEnqueued).flatMap(({ entries }) => entriesOf(entries, "start").slice(0, 1)),
      )
      if (!start) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" && entry.run === start.run ? { ...entry, ns: start.ns + 1n } : entry,
      )
    },
  },
  {
    name: "a run is there of which every enqueue was told to have failed",
    breaks: "I2",
    apply: (scene) => {
      const run = scene.choose(scene.runs.filter(isEnqueued))
      if (!run) return undefined
      const refused = entriesOf(run.entries, "enq_invoke").map(
        () => ({ op: "enq_fail", run: run.run, code: "DATABASE_UNREACHABLE" }) as const,
      )
      return addEntries(forget(scene, run.run, ["enq_ok", "enq_info", "enq_fail"]), ...refused)
    },
  },
  {
    name: "a process has an effect for a run that it never started",
    breaks: "I2",
    apply: (scene) => {
      const run = scene.choose(scene.runs.filter(({ rows }) => rows.length > 0))?.run
      return run === undefined ? undefined : addEntries(scene, { op: "effect", run })
    },
  },
]

export const REPETITIONS: readonly Mutation[] = [
  {
    name: "a run is told to be new twice",
    breaks: "I3",
    apply: (scene) => {
      const ok = scene.choose(entriesOf(scene.history, "enq_ok").filter(({ created }) => created))
      return ok && addEntries(scene, { op: "enq_ok", run: ok.run, created: true })
    },
  },
  {
    name: "an id has two live rows",
    breaks: "I3",
    beside: ["I24", "I33"],
    apply: (scene) => {
      const asked = addEntries(scene, { op: "enq_invoke", run: "twin" }, { op: "enq_info", run: "twin" })
      return addLive(asked, readyRun("twin"), readyRun("twin"))
    },
  },
  {
    name: "a repeated enqueue brings a finished run back to life",
    breaks: "I3",
    beside: ["I1", "I6", "I23", "I24", "I27"],
    apply: (scene) => {
      const end = scene.choose(scene.runs.filter(isEnqueued).flatMap((run) => endOf(run) ?? []))
      if (!end) return undefined
      const asked = addEntries(scene, { op: "enq_invoke", run: end.run }, { op: "enq_info", run: end.run })
      return addLive(asked, readyRun(end.run, end.generation))
    },
  },
  {
    name: "a repeated enqueue has a finished run executed once more",
    breaks: "I3",
    beside: ["I6", "I7", "I8", "I28", "I33"],
    apply: (scene) => {
      const ends = scene.runs
        .filter(isEnqueued)
        .flatMap((run) => endOf(run) ?? [])
        .filter(({ runState }) => runState === "succeeded")
      const end = scene.choose(ends)
      if (!end?.lease) return undefined
      const { run, lease, attempt } = end
      const asked = addEntries(
        scene,
        { op: "enq_invoke", run },
        { op: "enq_info", run },
        { op: "start", run, claim: "again", attempt, lease },
      )
      const finishedAtUs = end.finishedAtUs + 1_000_000
      return addRow(asked, { ...end, claim: "again", startedAtUs: finishedAtUs - 1, finishedAtUs })
    },
  },
]
