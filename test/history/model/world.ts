/**
 * A queue and its processes, on one clock: tests write stories with it, and the simulator writes random ones.
 */
import fc from "fast-check"
import type { FinalRead, MarkRow } from "../../support/history/final-read.ts"
import type { Entry, History, Operation } from "../../support/history/operations.ts"
import { createProcess, type ModelProcess } from "./process.ts"
import { createQueue, type NewRun, type Queue } from "./queue.ts"
import { createSchedules, type Schedules } from "./schedules.ts"

/** All that a checker is given, and how a failed property prints it. */
export interface Evidence {
  readonly history: History
  readonly finalRead: FinalRead
  readonly [fc.toStringMethod]?: () => string
}

export interface World {
  readonly queue: Queue
  readonly schedules: Schedules
  readonly spawn: () => ModelProcess
  readonly newRun: (settings?: Partial<NewRun>) => NewRun
  /** Lets so much time pass. */
  readonly rest: (ms: number) => void
  /** Lets time pass until something that waits is due, and makes it ready. */
  readonly promote: () => void
  /** An observer looks at everything: the cursors of schedules, the number of runs, what is new in history. */
  readonly observe: () => void
  /** Lets a fresh process reap all others and finish whatever is there. */
  readonly drain: () => ModelProcess
  /** Lets that process end everything, with nothing broken any more, and an observer look at it to the end. */
  readonly conclude: (last: ModelProcess) => void
  readonly evidence: () => Evidence
}

/** Far more than the resolution of anything that is compared. */
const STEP_US = 10_000
const OBSERVER = 100

export function createWorld(): World {
  const history: Entry[] = []
  const marks: MarkRow[] = []
  let clockUs = 1_790_000_000_000_000
  let lastPid = OBSERVER
  let lastRun = 0
  let lastLease = 0
  const nowUs = () => {
    clockUs += STEP_US
    return clockUs
  }
  const queue = createQueue(nowUs)
  const newRun = (settings: Partial<NewRun> = {}): NewRun => {
    lastRun += 1
    return { ...USUAL, run: `run-${lastRun}`, ...settings }
  }
  const schedules = createSchedules(nowUs, queue, newRun)

  function writer(pid: number): (operation: Operation) => void {
    let seq = -1
    return (operation) => {
      seq += 1
      history.push({ ...operation, ns: BigInt(nowUs()) * 1_000n, pid, seq })
    }
  }
  const note = writer(OBSERVER)

  function spawn(): ModelProcess {
    lastPid += 1
    const newLease = () => {
      lastLease += 1
      return `lease-${lastLease}`
    }
    const parts = { queue, nowUs, newLease, write: writer(lastPid), marks }
    // Clocks that are wrong make no difference.
    return createProcess(parts, lastPid % 3 === 0 ? (lastPid % 2 === 0 ? 3_600_000 : -3_600_000) : 0)
  }

  function rest(ms: number): void {
    clockUs += ms * 1_000
  }

  function promote(): void {
    const due = Math.min(...queue.runs("waiting").map(({ dueAtUs }) => dueAtUs))
    if (Number.isFinite(due)) clockUs = Math.max(clockUs, due)
    queue.promote()
  }

  function observe(): void {
    for (const name of schedules.names()) {
      const { id, version, cursorUs } = schedules.row(name)
      note({ op: "cursor", schedule: id, version, cursorUs })
    }
    note({ op: "count", ...queue.count() })
    note({ op: "sessions", open: lastLease, idleInTransaction: 0, advisoryLocks: 0, most: lastLease + 1 })
  }

  function finishAll(worker: ModelProcess): void {
    while (queue.runs().length > 0) {
      if (queue.runs("ready").length === 0) promote()
      worker.claim(10)
      for (const run of worker.held()) worker.start(run)
      for (const run of worker.held()) worker.settle(run, "succeeded")
    }
  }

  return {
    queue,
    schedules,
    spawn,
    newRun,
    rest,
    promote,
    observe,
    drain: () => {
      const leases = queue.read().workers.filter(({ dead }) => !dead)
      const last = spawn()
      for (const { lease } of leases) last.reap(lease)
      finishAll(last)
      return last
    },
    conclude: (last) => {
      note({ op: "healed" })
      for (const name of schedules.names()) schedules.resume(name)
      schedules.tick()
      finishAll(last)
      note({ op: "quiet_from" })
      for (const priority of [0, 1]) last.enqueue(newRun({ priority }))
      finishAll(last)
      note({ op: "quiet_to" })
      last.stop()
      observe()
      for (const run of new Set(queue.attempts().map((row) => row.run))) note({ op: "seen", run })
      note({ op: "reader_done" })
    },
    evidence: () =>
      printable({
        history: [...history],
        finalRead: { ...queue.read(), ...schedules.read(), marks: [...marks] },
      }),
  }
}

const USUAL = {
  allowed: 3,
  mayExpire: false,
  job: "work",
  priority: 0,
  key: null,
  remembered: false,
  delayMs: 0,
  retryMs: 500,
  limits: [],
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
