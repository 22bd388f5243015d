/** Keeps the history of a simulation in memory, as real processes write theirs into files. */
import type { Entry, History } from "../../support/history/operations.ts"
import type { Recorder as RecordFile } from "../../support/history/record.mjs"
import type { Kernel } from "../kernel/kernel.ts"

/** Writes down one line of a process. */
export type Pen = RecordFile["record"]

export interface Recorder {
  readonly history: History
  /** The pen of one life of a process; a dead one writes nothing. */
  readonly penOf: (pid: number, isAlive: () => boolean) => Pen
}

export function createRecorder(kernel: Kernel): Recorder {
  const history: Entry[] = []
  let lastNs = 0n
  return {
    history,
    penOf: (pid, isAlive) => {
      let seq = 0
      return (op, facts) => {
        if (!isAlive()) return
        const nowNs = BigInt(kernel.nowUs()) * 1_000n
        lastNs = nowNs > lastNs ? nowNs : lastNs + 1n
        history.push({ op, ...facts, ns: lastNs, pid, seq } as unknown as Entry)
        seq += 1
      }
    },
  }
}
