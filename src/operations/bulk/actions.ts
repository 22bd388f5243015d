/** What a bulk operation can do with runs, as one table: which runs an action is for, and how it changes a batch. */
import type { By } from "../../engine/by.ts"
import type { Effects, OperationResult } from "../../engine/effects.ts"
import type { RunState } from "../../queue/run-state.ts"
import type { Transaction } from "../../store/database.ts"
import { discardBatch } from "../dead-letters/discard-batch.ts"
import { replayBatch } from "../dead-letters/replay-batch.ts"
import { cancelIn } from "../runs/cancel.ts"
import { expediteIn } from "../runs/expedite.ts"
import type { Run } from "../runs/run.ts"

/** What a bulk operation does with each run. */
export type BulkAction = keyof typeof ACTIONS

/** What an action takes beside the runs. */
export interface BulkActionOptions {
  /** The new priority, for `expedite`. */
  readonly priority?: number
}

/** The runs of a batch. They meet the filter, and the transaction has locked them. */
export interface Batch extends BulkActionOptions {
  readonly runs: readonly string[]
  readonly by: By
}

export interface Applied {
  /** The runs that were changed. */
  readonly done: readonly string[]
  readonly effects: readonly Effects[]
}

/** What an action changes of a run. */
export type BulkChange = Partial<Pick<Run, "state" | "priority" | "generation">>

export interface Action {
  /** The states in which it changes a run. Its operations do not come to runs in others. */
  readonly states: readonly RunState[]
  /** The options that it takes. */
  readonly takes: readonly (keyof BulkActionOptions)[]
  /** Changes the runs in the transaction of the batch, and writes the audit of each. */
  readonly apply: (tx: Transaction, batch: Batch) => Promise<Applied>
  /** What is different afterwards. */
  readonly after: (run: Run, options: BulkActionOptions) => BulkChange
}

export const ACTIONS = {
  cancel: {
    states: ["waiting", "parked", "ready", "running"],
    takes: [],
    apply: (tx, { runs, by }) => oneByOne(runs, (id) => cancelIn(tx, { id, by })),
    after: () => ({ state: "cancelled" }),
  },
  expedite: {
    states: ["waiting", "ready"],
    takes: ["priority"],
    apply: (tx, { runs, by, priority }) => oneByOne(runs, (id) => expediteIn(tx, { id, by, priority })),
    after: (_, { priority }) => ({ state: "ready", ...(priority !== undefined && { priority }) }),
  },
  replay: {
    states: ["dead"],
    takes: [],
    apply: async (tx, batch) => together(await replayBatch(tx, lettersOf(batch))),
    after: ({ generation }) => ({ state: "ready", generation: generation + 1 }),
  },
  discard: {
    states: ["dead"],
    takes: [],
    apply: async (tx, batch) => together(await discardBatch(tx, lettersOf(batch))),
    after: () => ({ state: "discarded" }),
  },
} as const satisfies Record<string, Action>

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly BulkAction[]

export function actionOf(name: BulkAction): Action {
  return ACTIONS[name]
}

/** The transaction has locked the letters, so they are as they were chosen. */
function lettersOf({ runs, by }: Batch) {
  return { letters: runs.map((run) => ({ run, generation: null })), by }
}

function together({ answer, effects }: OperationResult<readonly string[]>): Applied {
  return { done: answer, effects: [effects] }
}

/** `change` says whether it changed the run. */
async function oneByOne(
  runs: readonly string[],
  change: (id: string) => Promise<OperationResult<boolean>>,
): Promise<Applied> {
  const done: string[] = []
  const effects: Effects[] = []
  for (const id of runs) {
    const changed = await change(id)
    effects.push(changed.effects)
    if (changed.answer) done.push(id)
  }
  return { done, effects }
}
