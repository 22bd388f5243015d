/** Faults in what is written too late: after the run was taken away, and after its end. */
import { entriesOf, SETTLED_BY_WORKER } from "../../support/history/facts.ts"
import type { AttemptRow } from "../../support/history/final-read.ts"
import {
  addEntries,
  addLive,
  addRow,
  editHistory,
  editRead,
  editRow,
  endOf,
  isKnown,
  type Mutation,
  readyRun,
  type Scene,
} from "./edit.ts"

export const LATE_WORDS: readonly Mutation[] = [
  {
    name: "a worker settles a run that was taken from it",
    breaks: "I5",
    apply: (scene) => {
      const lost = scene.choose(scene.finalRead.attempts.filter(({ outcome }) => outcome === "lost"))
      if (!lost?.claim) return undefined
      const { run, claim } = lost
      return addEntries(scene, { op: "settled", run, claim, outcome: "succeeded", runState: "succeeded" })
    },
  },
  {
    name: "a result is told to be refused and is taken all the same",
    breaks: "I5",
    apply: (scene) => {
      const settled = scene.choose(
        entriesOf(scene.history, "settled").filter(({ outcome }) =>
          SETTLED_BY_WORKER.has(outcome as "failed"),
        ),
      )
      if (!settled) return undefined
      const { run, claim, ns, pid, seq } = settled
      return editHistory(scene, (entry) =>
        entry === settled ? { op: "fenced", run, claim, ns, pid, seq } : entry,
      )
    },
  },
  {
    name: "a settle is told that history knows as something else",
    breaks: "I5",
    apply: (scene) => {
      const settled = scene.choose(entriesOf(scene.history, "settled"))
      if (!settled) return undefined
      const outcome = settled.outcome === "succeeded" ? "timed_out" : "succeeded"
      return editHistory(scene, (entry) => (entry === settled ? { ...settled, outcome } : entry))
    },
  },
  {
    name: "one claim is settled twice",
    breaks: "I5",
    apply: (scene) => {
      const settled = scene.choose(entriesOf(scene.history, "settled"))
      return settled && addEntries(scene, settled)
    },
  },
  {
    name: "an attempt is written down under a lease that did not claim it",
    breaks: "I5",
    apply: (scene) => {
      const row = scene.choose(scene.runs.flatMap((run) => run.rows.filter((known) => isKnown(run, known))))
      return row && editRow(scene, row, { lease: "stranger" })
    },
  },
  {
    name: "a lease that lost its runs is alive",
    breaks: "I5",
    apply: (scene) => {
      const lost = scene.choose(scene.finalRead.attempts.filter(({ outcome }) => outcome === "lost"))
      return lost?.lease ? revive(scene, lost.lease) : undefined
    },
  },
  {
    name: "a lease that was told to be lost is alive",
    breaks: "I5",
    apply: (scene) => {
      const alive = scene.choose(scene.finalRead.workers.filter(({ dead }) => !dead))
      return alive && addEntries(scene, { op: "lease_lost", lease: alive.lease, because: "dead" })
    },
  },
  {
    name: "a lease that was told to be reaped is alive",
    breaks: "I5",
    apply: (scene) => {
      const alive = scene.choose(scene.finalRead.workers.filter(({ dead }) => !dead))
      return alive && addEntries(scene, { op: "reaped", leases: [alive.lease], runs: 1 })
    },
  },
]

function revive(scene: Scene, lease: string) {
  const workers = scene.finalRead.workers.map((worker) =>
    worker.lease === lease ? { ...worker, dead: false } : worker,
  )
  return editRead(scene, { workers })
}

export const AFTERLIVES: readonly Mutation[] = [
  {
    name: "something happens to a run after its end",
    breaks: "I6",
    beside: ["I33", "I28"],
    apply: (scene) => {
      const end = scene.choose(scene.runs.flatMap((run) => endOf(run) ?? []))
      if (end?.runState !== "succeeded") return undefined
      const { attempt, finishedAtUs } = end
      return addRow(scene, {
        ...end,
        ...{ claim: "late", attempt: attempt + 1, charged: false, outcome: "released", runState: null },
        ...{ startedAtUs: null, finishedAtUs: finishedAtUs + 1 },
      })
    },
  },
  {
    name: "a finished run is live without a replay",
    breaks: "I6",
    beside: ["I1", "I3", "I9", "I14", "I23", "I24", "I27"],
    apply: (scene) => {
      const end = scene.choose(scene.runs.flatMap((run) => endOf(run) ?? []))
      return end && addLive(scene, readyRun(end.run, end.generation))
    },
  },
  {
    name: "a run was told to have ended otherwise than it did",
    breaks: "I6",
    apply: (scene) => {
      const settled = scene.choose(entriesOf(scene.history, "settled"))
      if (!settled) return undefined
      const runState = settled.runState === "dead" ? "waiting" : "dead"
      return editHistory(scene, (entry) => (entry === settled ? { ...settled, runState } : entry))
    },
  },
  {
    name: "a replay leaves no audit row",
    breaks: "I6",
    apply: (scene) => {
      const { audit } = scene.finalRead
      const replay = scene.choose(audit.filter(({ action }) => action === "run.replay"))
      return replay && editRead(scene, { audit: audit.filter((row) => row !== replay) })
    },
  },
  {
    name: "a run is replayed that was not dead",
    breaks: "I6",
    apply: (scene) => {
      const dead = scene.choose(replayedEnds(scene))
      if (!dead) return undefined
      const told = editHistory(scene, (entry) =>
        entry.op === "settled" && entry.run === dead.run && entry.claim === dead.claim
          ? { ...entry, runState: "cancelled" }
          : entry,
      )
      return editRow(told, dead, { runState: "cancelled" })
    },
  },
  {
    name: "a generation is skipped",
    breaks: "I6",
    apply: (scene) => {
      const run = scene.choose(replayedEnds(scene))?.run
      const skip = <T extends { run: string; generation: number }>(row: T): T =>
        row.run === run && row.generation > 1 ? { ...row, generation: row.generation + 1 } : row
      if (run === undefined) return undefined
      const { attempts, deadLetters } = scene.finalRead
      return editRead(scene, { attempts: attempts.map(skip), deadLetters: deadLetters.map(skip) })
    },
  },
  {
    name: "a run has succeeded and is a dead letter",
    breaks: "I6",
    apply: (scene) => {
      const chosen = scene.choose(scene.runs.filter((run) => endOf(run)?.runState === "succeeded"))
      const end = chosen && endOf(chosen)
      if (!end) return undefined
      const { run, generation } = end
      const counted = chosen.rows.filter((row) => row.generation === generation && row.charged).length
      const letter = { run, generation, attempts: counted, claims: chosen.rows.length }
      return editRead(scene, { deadLetters: [...scene.finalRead.deadLetters, letter] })
    },
  },
]

/** The ends that a replay came after. */
function replayedEnds({ runs }: Scene): AttemptRow[] {
  return runs.flatMap((run) =>
    run.rows.filter(
      (row) => row.runState === "dead" && run.rows.some(({ generation }) => generation > row.generation),
    ),
  )
}
