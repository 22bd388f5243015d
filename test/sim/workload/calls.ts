/** Recorded enqueues: each request before it is sent, and its answer, or that there was none. */

import type { EnqueueOptions } from "../../../src/api/runs/enqueue-options.ts"
import { CarillonError } from "../../../src/errors.ts"
import { isUncertain } from "../../../src/store/database-error.ts"
import type { Command } from "../../../src/store/server/command.ts"
import type { Asked } from "../../support/history/operations.ts"
import type { Life } from "../world/process.ts"
import type { Pen } from "../world/recorder.ts"
import type { Task } from "./jobs.ts"

/** One enqueue, of one run or of many. */
export interface Call {
  readonly number: number
  /** The id of each item's run; known when it is first sent. */
  readonly runs: Map<number, string>
  /** How often it was sent, by run. */
  readonly sent: Map<string, number>
  readonly says: Asked
  readonly record: Pen
}

export interface Calls {
  readonly open: (life: Life, says: Call["says"]) => Call
  /** Looks at every statement that writes an enqueued run. */
  readonly onSend: (commands: readonly Command[]) => void
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const INSERTS = new Set([
  "runs/insert",
  "runs/insert-plain",
  "runs/insert-delayed",
  "runs/insert-one",
  "runs/hand-off",
])
const ITEM = /\\?"call\\?":(\d+),\\?"item\\?":(\d+)/g

export function createCalls(): Calls {
  const calls: Call[] = []
  return {
    open: (life, says) => {
      const call: Call = { number: calls.length, runs: new Map(), sent: new Map(), says, record: life.record }
      calls.push(call)
      return call
    },
    onSend: (commands) => {
      for (const { label, values = [] } of commands) {
        if (!INSERTS.has(label)) continue
        const ids = idsIn(values)
        const items = values.flatMap((value) => [...(value ?? "").matchAll(ITEM)])
        items.forEach(([, number, item], index) => {
          const call = calls[Number(number)]
          const run = ids[index] ?? ""
          if (call === undefined) return
          if (!call.runs.has(Number(item))) call.runs.set(Number(item), run)
          // A retry with another id for the same item is a fault.
          if (call.runs.get(Number(item)) !== run) return
          call.sent.set(run, (call.sent.get(run) ?? 0) + 1)
          call.record("enq_invoke", { run, ...call.says })
        })
      }
    },
  }
}

/** A statement for one run has its id first; a statement for many, a list of them somewhere. */
function idsIn(values: readonly (string | null)[]): readonly string[] {
  const [first] = values
  const ids = first?.search(UUID) === 0 ? first : values.find((value) => value?.search(UUID) === 1)
  return ids?.match(UUID) ?? []
}

/** The same task, marked as an item of a call. */
export function itemOf({ number }: Call, item: number, task: Task): Task {
  return { call: number, item, ...task }
}

/** Enqueues and records the result; returns the ids of the acknowledged runs. */
export async function enqueueRecorded(
  life: Life,
  call: Call,
  wanted: { readonly job: string; readonly tasks: readonly Task[]; readonly options: EnqueueOptions },
): Promise<string[]> {
  const job = life.jobs.get(wanted.job)
  if (!job) throw new Error(`there is no job ${wanted.job}`)
  const { tx, ...options } = wanted.options
  const items = wanted.tasks.map((task, item) => ({ input: itemOf(call, item, task), ...options }))
  try {
    const [first] = items
    const handles =
      items.length === 1
        ? [await life.carillon.enqueue(job, first?.input as never, wanted.options)]
        : await life.carillon.enqueueMany(job, items as never, tx ? { tx } : {})
    if (!tx) for (const { id, created } of handles) life.record("enq_ok", { run: id, created })
    return handles.map(({ id }) => id)
  } catch (error) {
    // In a caller's transaction only the caller knows the result.
    if (!tx) recordFailure(call, error)
    throw error
  }
}

/** The outcome is unknown, or nothing was changed. */
export function recordFailure(call: Call, error: unknown): void {
  const code = error instanceof CarillonError ? error.code : String(error)
  for (const run of call.runs.values()) {
    // A certain answer counts for every time that it was sent.
    const times = isUncertain(error) ? 0 : (call.sent.get(run) ?? 0)
    if (times === 0) call.record("enq_info", { run })
    for (let time = 0; time < times; time += 1) call.record("enq_fail", { run, code })
  }
}
