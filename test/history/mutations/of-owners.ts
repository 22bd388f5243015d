/** Faults in who owns a run: two at once. */
import { entriesOf } from "../../support/history/facts.ts"
import { editHistory, editRow, type Mutation, pairsOf, startOf } from "./edit.ts"

export const DOUBLE_OWNERS: readonly Mutation[] = [
  {
    name: "an attempt has started before the one before it was written down",
    breaks: "I4",
    beside: ["I10", "I14"],
    apply: (scene) => {
      const pairs = scene.runs.flatMap(pairsOf).filter(([, after]) => after.startedAtUs !== null)
      const [before, after] = scene.choose(pairs) ?? []
      return before && after && editRow(scene, after, { startedAtUs: before.finishedAtUs - 1_001 })
    },
  },
  {
    name: "a run is taken from a worker while another has it",
    breaks: "I4",
    beside: ["I14", "I23"],
    apply: (scene) => {
      const pairs = scene.runs
        .flatMap(pairsOf)
        .filter(([before, after]) => before.outcome === "lost" && after.startedAtUs !== null)
      const [before, after] = scene.choose(pairs) ?? []
      return before && after && editRow(scene, before, { finishedAtUs: after.finishedAtUs - 1 })
    },
  },
  {
    name: "two handlers run at once and both are settled",
    breaks: "I4",
    apply: (scene) => {
      const pairs = scene.runs.flatMap((run) =>
        pairsOf(run).flatMap(([before, after]) => {
          const end = entriesOf(run.entries, "end").find(({ claim }) => claim === before.claim)
          const start = startOf(run, after)
          const isSettled = ["failed", "snoozed"].includes(before.outcome) && !STOLEN.has(after.outcome)
          return end && start && isSettled ? [{ end, start }] : []
        }),
      )
      const chosen = scene.choose(pairs)
      if (!chosen) return undefined
      return editHistory(scene, (entry) =>
        entry === chosen.start ? { ...chosen.start, ns: chosen.end.ns - 1n } : entry,
      )
    },
  },
]

/** Outcomes that others write: the handler may go on. */
const STOLEN: ReadonlySet<string> = new Set(["lost", "cancelled", "expired"])
