/** Faults in the record of attempts: under the wrong number, or without a cause. */
import { entriesOf } from "../../support/history/facts.ts"
import type { AttemptRow } from "../../support/history/final-read.ts"
import {
  addEntries,
  addRow,
  editHistory,
  editRead,
  editRow,
  editRows,
  isEnqueued,
  isKnown,
  type Mutation,
  pairsOf,
  type Scene,
  startOf,
} from "./edit.ts"

export const MISCOUNTS: readonly Mutation[] = [
  {
    name: "a number is left out",
    breaks: "I7",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.attempts.filter(({ charged }) => charged))
      return row && editRow(scene, row, { attempt: row.attempt + 1 })
    },
  },
  {
    name: "an attempt that does not count has a number of its own",
    breaks: "I7",
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.attempts.filter(({ charged }) => !charged))
      return row && editRow(scene, row, { attempt: row.attempt + 1 })
    },
  },
  {
    name: "an attempt is written down twice",
    breaks: "I7",
    beside: ["I8", "I14", "I21", "I27"],
    apply: (scene) => {
      const row = scene.choose(scene.finalRead.attempts.filter(({ runState }) => runState === null))
      return row && addRow(scene, row)
    },
  },
  {
    name: "a claim leaves no row",
    breaks: "I7",
    beside: ["I8", "I27", "I33"],
    apply: (scene) => {
      const known = scene.runs.flatMap((run) =>
        run.rows.filter((row) => row.runState === null && isKnown(run, row)),
      )
      const row = scene.choose(known)
      return row && editRows(scene, (other) => (other === row ? undefined : other))
    },
  },
  {
    name: "the first loss of a run counts",
    breaks: "I7",
    apply: (scene) => {
      const first = scene.runs.flatMap(({ rows }) => rows.find(({ outcome }) => outcome === "lost") ?? [])
      return chargeAlso(scene, scene.choose(first.filter(({ runState }) => runState === null)))
    },
  },
  {
    name: "a run is lost again, and that does not count",
    breaks: "I7",
    apply: (scene) => {
      const further = scene.runs.flatMap(({ entries, rows }) => {
        const begun = new Set(entriesOf(entries, "effect").map(({ claim }) => claim))
        const lost = rows.filter(({ outcome, generation }) => outcome === "lost" && generation === 1)
        return lost.slice(1).filter(({ charged, claim }) => charged && begun.has(claim ?? ""))
      })
      return recharge(scene, scene.choose(further), false)
    },
  },
  {
    name: "an attempt counts that was given back",
    breaks: "I7",
    apply: (scene) => {
      const { attempts } = scene.finalRead
      return chargeAlso(scene, scene.choose(attempts.filter(({ outcome }) => outcome === "released")))
    },
  },
  {
    name: "a failure does not count",
    breaks: "I7",
    apply: (scene) => {
      const { attempts } = scene.finalRead
      const failed = attempts.filter(({ outcome, charged }) => outcome === "failed" && charged)
      return recharge(scene, scene.choose(failed), false)
    },
  },
  {
    name: "a run is tried more often than it may be",
    breaks: "I7",
    apply: (scene) => {
      const tried = scene.runs.filter(isEnqueued).flatMap(({ rows }) => rows)
      const counted = scene.choose(tried.filter(({ charged }) => charged))
      if (!counted) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "enq_invoke" && entry.run === counted.run
          ? { ...entry, attempts: counted.attempt - 1 }
          : entry,
      )
    },
  },
  {
    name: "a dead letter counts other attempts than history",
    breaks: "I7",
    apply: (scene) => {
      const letter = scene.choose(scene.finalRead.deadLetters)
      if (!letter) return undefined
      const deadLetters = scene.finalRead.deadLetters.map((other) =>
        other === letter ? { ...letter, attempts: letter.attempts + 1 } : other,
      )
      return editRead(scene, { deadLetters })
    },
  },
  {
    name: "a generation has two ends",
    breaks: "I7",
    beside: ["I3", "I6", "I8"],
    apply: (scene) => {
      const pairs = scene.runs
        .flatMap(pairsOf)
        .filter(([before, after]) => before.generation === after.generation && after.runState !== null)
      const [before] = scene.choose(pairs) ?? []
      return before && editRow(scene, before, { runState: "cancelled" })
    },
  },
]

function chargeAlso(scene: Scene, row: AttemptRow | undefined) {
  return recharge(scene, row, true)
}

/** Charges an attempt, or not, and counts on from there as if that were right. */
function recharge(scene: Scene, row: AttemptRow | undefined, charged: boolean) {
  if (!row) return undefined
  const by = charged ? 1 : -1
  const { run, generation, finishedAtUs } = row
  const renumbered = editRows(scene, (other) => {
    if (other === row) return { ...row, charged }
    const isLater = other.run === run && other.generation === generation && other.finishedAtUs > finishedAtUs
    return isLater ? { ...other, attempt: other.attempt + by } : other
  })
  const deadLetters = scene.finalRead.deadLetters.map((letter) =>
    letter.run === run && letter.generation === generation
      ? { ...letter, attempts: letter.attempts + by }
      : letter,
  )
  return editRead(renumbered, { deadLetters })
}

export const UNEXPLAINED: readonly Mutation[] = [
  {
    name: "what is done again is done under another key",
    breaks: "I8",
    apply: (scene) => {
      const again = scene.runs.flatMap(({ entries }) => entriesOf(entries, "effect").slice(1))
      const effect = scene.choose(again)
      return effect && editHistory(scene, (entry) => (entry === effect ? { ...effect, key: "new" } : entry))
    },
  },
  {
    name: "two runs have one key",
    breaks: "I8",
    apply: (scene) => {
      const [one, other] = scene.runs.flatMap(({ entries }) => entriesOf(entries, "effect").slice(0, 1))
      const key = one?.key
      if (!other || key === undefined) return undefined
      return editHistory(scene, (entry) =>
        entry.op === "effect" && entry.run === other.run ? { ...entry, key } : entry,
      )
    },
  },
  {
    name: "one claim is started twice",
    breaks: "I8",
    apply: (scene) => {
      const start = scene.choose(entriesOf(scene.history, "start"))
      return start && addEntries(scene, start)
    },
  },
  {
    name: "a run is started again after an attempt that asked for no other",
    breaks: "I8",
    beside: ["I27"],
    apply: (scene) => {
      const released = scene.runs.flatMap((run) => {
        const started = run.rows.filter((row) => startOf(run, row))
        return started.length < 2
          ? []
          : started.filter(({ outcome, runState }) => outcome === "released" && runState === null)
      })
      const row = scene.choose(released)
      if (!row) return undefined
      const told = editHistory(scene, (entry) =>
        entry.op === "settled" && entry.run === row.run && entry.claim === row.claim
          ? { ...entry, outcome: "cancelled" }
          : entry,
      )
      return editRow(told, row, { outcome: "cancelled" })
    },
  },
  {
    name: "a run is started again after an attempt of which nothing is known",
    breaks: "I8",
    beside: ["I7", "I21", "I27", "I33"],
    apply: (scene) => {
      const started = scene.runs.flatMap((run) => {
        const rows = run.rows.filter((row) => startOf(run, row))
        return rows.length < 2 ? [] : rows.filter(({ runState }) => runState === null)
      })
      const row = scene.choose(started)
      return row && editRows(scene, (other) => (other === row ? undefined : other))
    },
  },
  {
    name: "an attempt does not say why there was another",
    breaks: "I8",
    apply: (scene) => {
      const after = scene.choose(furtherAttempts(scene))
      return after && editRow(scene, after, { cause: null })
    },
  },
  {
    name: "an attempt names a cause that was none",
    breaks: "I8",
    apply: (scene) => {
      const after = scene.choose(furtherAttempts(scene))
      return after && editRow(scene, after, { cause: after.cause === "lost" ? "failed" : "lost" })
    },
  },
]

function furtherAttempts({ runs }: Scene): AttemptRow[] {
  return runs.flatMap((run) => pairsOf(run).flatMap(([, after]) => (after.claim === null ? [] : [after])))
}
