/** Faults in how things come to rest: what is left behind, held, miscounted, or never told. */
import { entriesOf } from "../../support/history/facts.ts"
import type { Operation } from "../../support/history/operations.ts"
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

/** An abandoned run, with a caller that enqueued it and has no answer. */
function leftOver(scene: Scene, change: Partial<ReturnType<typeof readyRun>>) {
  const asked = addEntries(scene, { op: "enq_invoke", run: "left" }, { op: "enq_info", run: "left" })
  return addLive(asked, { ...readyRun("left"), ...change })
}

export const LEFT_BEHIND: readonly Mutation[] = [
  {
    name: "a run that is due is never claimed",
    breaks: "I24",
    beside: ["I33"],
    apply: (scene) => leftOver(scene, {}),
  },
  {
    name: "a run that is due is never made ready",
    breaks: "I24",
    beside: ["I33"],
    apply: (scene) => leftOver(scene, { state: "waiting" }),
  },
  {
    name: "a run is held for ever by a lease that is gone",
    breaks: "I24",
    beside: ["I33"],
    apply: (scene) => leftOver(scene, { state: "running", lease: "gone", claim: "1", claims: 1 }),
  },
  {
    name: "a run stands in line where there is room",
    breaks: "I24",
    beside: ["I33"],
    apply: (scene) => {
      const parked = leftOver(scene, { state: "parked", parkedFor: "limit" })
      const runLimits = [{ run: "left", key: "narrow", limit: "narrow", admitted: false }]
      return editRead(parked, { runLimits, limits: [{ name: "narrow", cap: 1 }] })
    },
  },
  {
    name: "a place under a limit is kept by a run that has ended",
    breaks: "I24",
    apply: (scene) => {
      const run = scene.choose(scene.finalRead.attempts)?.run
      return run === undefined
        ? undefined
        : editRead(scene, { runLimits: [{ run, key: "narrow", limit: "narrow", admitted: true }] })
    },
  },
  {
    name: "a schedule is due and stays undecided",
    breaks: "I24",
    apply: (scene) => {
      const { schedules, nowUs } = scene.finalRead
      const late = scene.choose(schedules)
      const nextAtUs = nowUs - 60_000_000
      return (
        late &&
        editRead(scene, { schedules: schedules.map((row) => (row === late ? { ...late, nextAtUs } : row)) })
      )
    },
  },
]

const SESSIONS = { op: "sessions", open: 3, idleInTransaction: 0, advisoryLocks: 0, most: 10 } as const

export const UNBOUNDED: readonly Mutation[] = [
  {
    name: "there are more sessions than were allowed",
    breaks: "I25",
    apply: (scene) => addEntries(scene, { ...SESSIONS, open: 11 }, SESSIONS),
  },
  {
    name: "a session is left idle in a transaction",
    breaks: "I25",
    apply: (scene) => addEntries(scene, { ...SESSIONS, idleInTransaction: 1 }),
  },
  {
    name: "an advisory lock is left behind",
    breaks: "I25",
    apply: (scene) => addEntries(scene, { ...SESSIONS, advisoryLocks: 1 }),
  },
  {
    name: "dead rows cannot be removed",
    breaks: "I25",
    apply: (scene) => addEntries(scene, { op: "vacuumed", table: "runs", dead: 1 }, SESSIONS),
  },
]

export const MISCOUNTED: readonly Mutation[] = [
  {
    name: "a run is in no state, or in two",
    breaks: "I26",
    apply: (scene) => {
      const count = scene.choose(entriesOf(scene.history, "count"))
      return (
        count &&
        editHistory(scene, (entry) => (entry === count ? { ...count, enqueued: count.enqueued + 1 } : entry))
      )
    },
  },
  {
    name: "there are fewer runs than before",
    breaks: "I26",
    apply: (scene) => {
      const last = entriesOf(scene.history, "count").at(-1)
      if (!last || last.enqueued === 0) return undefined
      const [two, one]: Operation[] = [
        { op: "count", states: { ready: 2 }, enqueued: 2 },
        { op: "count", states: { ready: 1 }, enqueued: 1 },
      ]
      return two && one && addEntries(scene, two, one)
    },
  },
  {
    name: "a schedule counts other runs than its ledger",
    breaks: "I26",
    apply: (scene) => {
      const { schedules } = scene.finalRead
      const row = scene.choose(schedules)
      return (
        row &&
        editRead(scene, {
          schedules: schedules.map((other) => (other === row ? { ...row, fired: row.fired + 1 } : other)),
        })
      )
    },
  },
]

export const RUDE_STOPS: readonly Mutation[] = [
  {
    name: "a process starts a run after it has stopped",
    breaks: "I31",
    beside: ["I2", "I7", "I8", "I16", "I1"],
    apply: (scene) => {
      const start = scene.choose(
        entriesOf(scene.history, "start").filter(({ pid }) => isLastStopped(scene, pid)),
      )
      const ok = entriesOf(scene.history, "stop_ok").find(({ pid }) => pid === start?.pid)
      if (!start || !ok) return undefined
      return editHistory(scene, (entry) =>
        entry === start ? { ...start, op: "claim", ns: ok.ns + 200_000_000n } : entry,
      )
    },
  },
  {
    name: "a run has to be taken back from a process that has stopped",
    breaks: "I31",
    beside: ["I1", "I4", "I5", "I6", "I7", "I8", "I14", "I20", "I21", "I27"],
    apply: (scene) => {
      const rows = scene.finalRead.attempts.filter(
        ({ lease, runState }) => runState === "succeeded" && lease !== null && isLastLease(scene, lease),
      )
      const row = scene.choose(rows)
      const { nowUs } = scene.finalRead
      return row && editRow(scene, row, { outcome: "lost", startedAtUs: null, finishedAtUs: nowUs })
    },
  },
  {
    name: "a run is still held by a process that has stopped",
    breaks: "I31",
    beside: ["I24", "I33"],
    apply: (scene) => {
      const lease = scene.finalRead.workers.find((worker) => isLastLease(scene, worker.lease))?.lease
      return lease === undefined
        ? undefined
        : leftOver(scene, { state: "running", lease, claim: "1", claims: 1 })
    },
  },
  {
    name: "a stop takes far longer than its grace",
    breaks: "I31",
    apply: (scene) => {
      const ok = scene.choose(entriesOf(scene.history, "stop_ok"))
      return (
        ok && editHistory(scene, (entry) => (entry === ok ? { ...ok, ns: ok.ns + 20_000_000_000n } : entry))
      )
    },
  },
]

/** The process that ended everything: it was told to stop when nothing was broken. */
function isLastStopped({ history }: Scene, pid: number): boolean {
  return entriesOf(history, "stop_invoke").at(-1)?.pid === pid
}

function isLastLease(scene: Scene, lease: string): boolean {
  return entriesOf(scene.history, "lease_open").some(
    (entry) => entry.lease === lease && isLastStopped(scene, entry.pid),
  )
}

export const LYING_READS: readonly Mutation[] = [
  {
    name: "a reader misses a run",
    breaks: "I33",
    apply: (scene) => {
      const seen = scene.choose(entriesOf(scene.history, "seen"))
      return seen && editHistory(scene, (entry) => (entry === seen ? undefined : entry))
    },
  },
  {
    name: "a reader is given a run twice",
    breaks: "I33",
    apply: (scene) => {
      const seen = scene.choose(entriesOf(scene.history, "seen"))
      return (
        seen &&
        editHistory({ ...scene, history: [...scene.history, { ...seen, seq: 9_999 }] }, (entry) => entry)
      )
    },
  },
  {
    name: "a reader is given a run that is not there",
    breaks: "I33",
    apply: (scene) => {
      const seen = scene.choose(entriesOf(scene.history, "seen"))
      return seen && editHistory(scene, (entry) => (entry === seen ? { ...seen, run: "nobody" } : entry))
    },
  },
]
