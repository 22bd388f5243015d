/** Faults in what belongs together: runs and their keys, rows and their transactions, a run and its history. */
import { entriesOf } from "../../support/history/facts.ts"
import type { LiveRun } from "../../support/history/final-read.ts"
import {
  addEntries,
  addLive,
  editHistory,
  editRead,
  editRow,
  type Mutation,
  readyRun,
  type Scene,
} from "./edit.ts"

export const SHARED_KEYS: readonly Mutation[] = [
  {
    name: "two runs live under one key",
    breaks: "I18",
    apply: (scene) => {
      const lives = scene.runs.filter(
        ({ rows, entries }) => rows.length > 0 && entriesOf(entries, "enq_invoke").length > 0,
      )
      const overlapping = lives.flatMap((one) =>
        lives
          .filter((other) => one !== other && isBeside(one.rows, other.rows))
          .map((other) => [one.run, other.run]),
      )
      const pair = scene.choose(overlapping)
      if (!pair) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" && pair.includes(entry.run)
          ? { ...entry, key: "shared", job: "work" }
          : entry,
      )
    },
  },
  {
    name: "a key is held by a run that has ended",
    breaks: "I18",
    apply: (scene) => {
      const run = scene.choose(scene.finalRead.attempts)?.run
      if (run === undefined) return undefined
      const held = { tenant: "", job: "work", key: "held", run, expiresAtUs: null }
      return editRead(scene, { keys: [...scene.finalRead.keys, held] })
    },
  },
  {
    name: "a key is forgotten with the end of its run",
    breaks: "I18",
    apply: (scene) => {
      const { keys, runs, nowUs } = scene.finalRead
      const live = new Set(runs.map(({ run }) => run))
      const ended = keys.filter(
        ({ run, expiresAtUs }) => !live.has(run) && (expiresAtUs ?? 0) > nowUs + WEEK_US,
      )
      const lost = scene.choose(ended)
      return lost && editRead(scene, { keys: keys.filter((key) => key !== lost) })
    },
  },
  {
    name: "a key has two live runs",
    breaks: "I18",
    beside: ["I2", "I24", "I33"],
    apply: (scene) =>
      addLive(scene, { ...readyRun("one"), key: "twin" }, { ...readyRun("other"), key: "twin" }),
  },
]

const WEEK_US = 7 * 86_400_000_000

function isBeside(
  one: readonly { readonly enqueuedAtUs: number; readonly generation: number; readonly runState: unknown }[],
  other: readonly {
    readonly enqueuedAtUs: number
    readonly finishedAtUs: number
    readonly generation: number
  }[],
): boolean {
  const [mine, theirs] = [one[0], other[0]]
  const end = other.filter(({ generation }) => generation === 1).at(-1)
  if (!mine || !theirs || !end) return false
  return mine.enqueuedAtUs > theirs.enqueuedAtUs && mine.enqueuedAtUs < end.finishedAtUs
}

export const TORN_TRANSACTIONS: readonly Mutation[] = [
  {
    name: "a user's row is there without the run of its transaction",
    breaks: "I19",
    apply: (scene) => {
      const marked = { run: "torn", mark: "torn" }
      const asked = addEntries(scene, { op: "tx_invoke", ...marked }, { op: "tx_info", ...marked })
      return editRead(asked, { marks: [...(scene.finalRead.marks ?? []), marked] })
    },
  },
  {
    name: "a run is there without the user's row of its transaction",
    breaks: "I19",
    apply: (scene) => {
      const { marks } = scene.finalRead
      const mark = scene.choose(marks ?? [])
      return mark && editRead(scene, { marks: (marks ?? []).filter((other) => other !== mark) })
    },
  },
  {
    name: "a transaction is told to be rolled back and is there",
    breaks: "I19",
    beside: ["I2"],
    apply: (scene) => {
      const ok = scene.choose(entriesOf(scene.history, "tx_ok"))
      return ok && editHistory(scene, (entry) => (entry === ok ? { ...ok, op: "tx_fail" } : entry))
    },
  },
  {
    name: "an acknowledged transaction is gone",
    breaks: "I19",
    beside: ["I1"],
    apply: (scene) => {
      const marked = { run: "gone", mark: "gone" }
      return addEntries(scene, { op: "tx_invoke", ...marked }, { op: "tx_ok", ...marked })
    },
  },
]

export const TORN_FINISHES: readonly Mutation[] = [
  {
    name: "a run has succeeded, and what its handler wrote is not there",
    breaks: "I20",
    apply: (scene) => {
      const finishes = scene.finalRead.finishes ?? []
      const gone = finishes.length > 1 ? scene.choose(finishes) : undefined
      return gone && editRead(scene, { finishes: finishes.filter((other) => other !== gone) })
    },
  },
  {
    name: "what a handler wrote is there twice",
    breaks: "I20",
    apply: (scene) => {
      const finishes = scene.finalRead.finishes ?? []
      const twice = scene.choose(finishes)
      return twice && editRead(scene, { finishes: [...finishes, { ...twice }] })
    },
  },
  {
    name: "what a handler wrote is there although its attempt was lost",
    breaks: "I20",
    apply: (scene) => {
      const finishes = scene.finalRead.finishes ?? []
      const one = scene.choose(finishes)
      return (
        one &&
        editRead(scene, { finishes: finishes.map((row) => (row === one ? { ...one, claim: "lost" } : row)) })
      )
    },
  },
]

/** A run that has failed once and waits, as its rows say it should. */
function waitingRun(scene: Scene, change: Partial<LiveRun>) {
  const source = scene.choose(
    scene.runs.filter(
      ({ rows, schedule }) => rows.length > 1 && rows[0]?.outcome === "failed" && schedule === null,
    ),
  )
  const first = source?.rows[0]
  if (!source || !first || source.rows[0]?.generation !== source.rows.at(-1)?.generation) return undefined
  const { attempts, nowUs } = scene.finalRead
  const live: LiveRun = {
    ...readyRun(first.run),
    ...{
      job: first.job,
      attempt: 1,
      claims: 1,
      cause: "failed",
      state: "waiting",
      enqueuedAtUs: first.enqueuedAtUs,
    },
    dueAtUs: nowUs + 1_000_000,
  }
  return editRead(scene, {
    attempts: attempts.filter((row) => row.run !== first.run || row === first),
    runs: [{ ...live, ...change } satisfies LiveRun],
  })
}

export const UNFOLDABLE: readonly Mutation[] = [
  ...(["attempt", "claims", "generation"] as const).map(
    (field): Mutation => ({
      name: `a live run has a number of its own (${field})`,
      breaks: "I27",
      beside: ["I6", "I7", "I8", "I20", "I21", "I23", "I33", "I16", "I31", "I11", "I1"],
      apply: (scene) => waitingRun(scene, { [field]: 4 }),
    }),
  ),
  {
    name: "a dead letter was claimed otherwise than its history",
    breaks: "I27",
    apply: (scene) => {
      const { deadLetters } = scene.finalRead
      const letter = scene.choose(deadLetters)
      const wrong = letter && { ...letter, claims: letter.claims + 1 }
      return (
        wrong &&
        editRead(scene, { deadLetters: deadLetters.map((other) => (other === letter ? wrong : other)) })
      )
    },
  },
  {
    name: "a run is enqueued anew between two attempts",
    breaks: "I27",
    beside: ["I11", "I16", "I18", "I28"],
    apply: (scene) => {
      const rows = scene.runs.flatMap((run) =>
        run.rows.filter((row, index) => index > 0 && run.rows[index - 1]?.generation === row.generation),
      )
      const row = scene.choose(rows)
      return row && editRow(scene, row, { enqueuedAtUs: row.enqueuedAtUs - 1 })
    },
  },
]
