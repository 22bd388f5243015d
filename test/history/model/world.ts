/**
 * A queue and its processes, on one clock: tests write stories with it, and the simulator writes random ones.
 */
import fc from "fast-check"
import type { FinalRead } from "../../support/history/final-read.ts"
import type { Entry, History } from "../../support/history/operations.ts"
import { createProcess, type ModelProcess } from "./process.ts"
import { createQueue, type NewRun, type Queue } from "./queue.ts"

/** All that a checker is given, and how a failed property prints it. */
export interface Evidence {
  readonly history: History
  readonly finalRead: FinalRead
  readonly [fc.toStringMethod]?: () => string
}

export interface World {
  readonly queue: Queue
  readonly spawn: () => ModelProcess
  readonly newRun: (settings?: Partial<NewRun>) => NewRun
  /** Lets a fresh process reap all others and finish whatever is there. */
  readonly drain: () => void
  readonly evidence: () => Evidence
}

/** Far more than the resolution of anything that is compared. */
const STEP_US = 10_000

export function createWorld(): World {
  const history: Entry[] = []
  let clockUs = 1_790_000_000_000_000
  let lastPid = 100
  let lastRun = 0
  let lastLease = 0
  const nowUs = () => {
    clockUs += STEP_US
    return clockUs
  }
  const queue = createQueue(nowUs)

  function spawn(): ModelProcess {
    lastPid += 1
    const pid = lastPid
    let seq = -1
    return createProcess({
      queue,
      nowUs,
      newLease: () => {
        lastLease += 1
        return `lease-${lastLease}`
      },
      write: (operation) => {
        seq += 1
        history.push({ ...operation, ns: BigInt(nowUs()) * 1_000n, pid, seq })
      },
    })
  }

  return {
    queue,
    spawn,
    newRun: (settings = {}) => {
      lastRun += 1
      return { run: `run-${lastRun}`, allowed: 3, mayExpire: false, ...settings }
    },
    drain: () => {
      const leases = queue.read().workers.filter(({ dead }) => !dead)
      const last = spawn()
      for (const { lease } of leases) last.reap(lease)
      while (queue.runs().length > 0) {
        for (const run of queue.runs("waiting")) queue.promote(run)
        last.claim(10)
        for (const run of last.held()) last.start(run)
        for (const run of last.held()) last.settle(run, "succeeded")
      }
    },
    evidence: () => printable({ history: [...history], finalRead: queue.read() }),
  }
}

/** One line for each operation and each row. */
export function printable({ history, finalRead }: Evidence): Evidence {
  const lines = () => [
    ...history.map(({ ns, pid, seq: _seq, op, ...data }) => `${ns} ${pid} ${op} ${JSON.stringify(data)}`),
    ...Object.entries(finalRead).flatMap(([table, rows]: [string, unknown]) =>
      (Array.isArray(rows) ? rows : [rows]).map((row) => `${table} ${JSON.stringify(row)}`),
    ),
  ]
  return { history, finalRead, [fc.toStringMethod]: () => `\n${lines().join("\n")}\n` }
}
