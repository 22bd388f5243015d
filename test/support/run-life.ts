/** The life of a run, for tests: its states, every act that moves it, and the state that RUN_LIFE gives for the act. */
import { RUN_LIFE, type RunEvent, type RunState } from "../../src/queue/run-state.ts"
import { discardBatch } from "../../src/store/dead-letters/discard-batch.ts"
import { replayBatch } from "../../src/store/dead-letters/replay-batch.ts"
import { admitRuns } from "../../src/store/limits/admit.ts"
import { tryLockLimits } from "../../src/store/limits/try-lock.ts"
import { cancelRun } from "../../src/store/runs/cancel.ts"
import { claimRuns } from "../../src/store/runs/claim.ts"
import { delayRun } from "../../src/store/runs/delay.ts"
import { editRun } from "../../src/store/runs/edit.ts"
import { expediteRun } from "../../src/store/runs/expedite.ts"
import { lockRunForChange } from "../../src/store/runs/lock-for-change.ts"
import { moveRun } from "../../src/store/runs/move.ts"
import { parkEverything } from "../../src/store/runs/park-everything.ts"
import { parkPausedJobs } from "../../src/store/runs/park-paused-jobs.ts"
import { parkPausedPools } from "../../src/store/runs/park-paused-pools.ts"
import { parkPausedTenants } from "../../src/store/runs/park-paused-tenants.ts"
import { parkUnhandled } from "../../src/store/runs/park-unhandled.ts"
import { promoteRuns } from "../../src/store/runs/promote.ts"
import { reapRuns } from "../../src/store/runs/reap.ts"
import { recordProgress } from "../../src/store/runs/record-progress.ts"
import { recordStart } from "../../src/store/runs/record-start.ts"
import { unparkHandled } from "../../src/store/runs/unpark-handled.ts"
import { unparkResumed } from "../../src/store/runs/unpark-resumed.ts"
import { unparkTenants } from "../../src/store/runs/unpark-tenants.ts"
import { ENDS } from "./attempt-ends.ts"
import { addPause, LIMIT_KEYS, type Life, openIdleLease, removePauses, TENANT } from "./run-life-stage.ts"
import { type End, EVER, host, killLease, lanesOf, type Runner, settle } from "./runs.ts"

/** Under limits, never to run again after a loss, or neither. */
export type Kind = "plain" | "limited" | "fragile"
export const KINDS: readonly Kind[] = ["plain", "limited", "fragile"]

/** Where a run stands: its state, its reason for being parked, and whether it was cancelled while running. */
export const PHASES = {
  waiting: "waiting",
  "in line": "parked",
  paused: "parked",
  "of a paused tenant": "parked",
  unhandled: "parked",
  ready: "ready",
  running: "running",
  cancelling: "running",
  dead: "dead",
  succeeded: "succeeded",
  cancelled: "cancelled",
  expired: "expired",
  discarded: "discarded",
} as const satisfies Record<string, RunState>
export type Phase = keyof typeof PHASES

export interface Act {
  readonly from: readonly Phase[]
  /** What happens to the run; `stays` and `keeps` are no events: its state remains, or also its reason. */
  readonly event: (kind: Kind, phase: Phase) => RunEvent | "stays" | "keeps"
  /** Why it parks a run. */
  readonly parks?: Phase
  /** Whether it skips locked runs; otherwise it waits for them. */
  readonly skips: boolean
  /** Executes it, and returns whether it changed anything. */
  readonly perform: (on: Runner, life: Life) => Promise<boolean>
}

const LIVE: Phase[] = [
  "waiting",
  "in line",
  "paused",
  "of a paused tenant",
  "unhandled",
  "ready",
  "running",
  "cancelling",
]
const CHANGEABLE = LIVE.filter((phase) => PHASES[phase] !== "running")
const HELD: Phase[] = ["running", "cancelling"]
const WALK = { lanes: 10, depth: 10, limit: 10 }
const SAME_INPUT = { input: null, inputBefore: null, inputAfter: null }
const letter = (id: string) => ({ runs: [id], generations: [null], actor: "ada", reason: "" })
const isTold = (rows: readonly unknown[]) => rows.length > 0
const hasMoved = ([row]: readonly { readonly runs: number }[]) => (row?.runs ?? 0) > 0
const ifLimited =
  <T>(then: T, otherwise: T) =>
  (kind: Kind): T =>
    kind === "limited" ? then : otherwise

/** The end of an attempt, written by its worker. */
function ends(event: RunEvent, end: End): Act {
  return {
    from: HELD,
    event: () => event,
    skips: false,
    perform: async (on, { id, fence }) =>
      isTold(await settle(on, fence.lease, [{ ...end, id, claim: fence.claim }])),
  }
}

/** Runs of a pause, or without a handler, are parked. */
function parks(parksFor: Phase, perform: Act["perform"]): Act {
  return { from: ["ready"], event: () => "park", parks: parksFor, skips: true, perform }
}

/** A change by an operator, under the lock of the run. */
function changes(change: (on: Runner, id: string) => Promise<readonly unknown[]>): Act["perform"] {
  return async (on, { id }) => {
    await on.run(lockRunForChange, { id })
    return isTold(await change(on, id))
  }
}

const RETURN = { delayMs: 0, startedAgoMs: 1 }

export const ACTS: Readonly<Record<string, Act>> = {
  promote: {
    from: ["waiting"],
    event: ifLimited<RunEvent>("park", "due"),
    skips: true,
    perform: async (on) => isTold(await on.run(promoteRuns, { from: 0, to: EVER, limit: 10 })),
  },
  expedite: {
    from: ["waiting", "ready"],
    event: (kind, phase) => (kind === "limited" && phase === "waiting" ? "park" : "expedite"),
    skips: false,
    perform: changes((on, id) => on.run(expediteRun, { id, priority: null })),
  },
  delay: {
    from: CHANGEABLE,
    event: () => "delay",
    skips: false,
    perform: changes((on, id) => on.run(delayRun, { id, until: null, byMs: 0 })),
  },
  "move there and back": {
    from: CHANGEABLE,
    event: () => "keeps",
    skips: false,
    perform: changes(async (on, id) => {
      await on.run(moveRun, { id, pool: "side" })
      return on.run(moveRun, { id, pool: "default" })
    }),
  },
  edit: {
    from: CHANGEABLE,
    event: () => "keeps",
    skips: false,
    perform: changes((on, id) => on.run(editRun, { id, priority: 0, tags: '["a"]', input: "2" })),
  },
  admit: {
    from: ["in line"],
    event: () => "unpark",
    skips: true,
    perform: async (on, { id, database }) => {
      const [lock] = await on.run(tryLockLimits, { schema: database.schema, keys: LIMIT_KEYS })
      return lock?.taken === true && isTold(await on.run(admitRuns, { ids: [id], keys: LIMIT_KEYS }))
    },
  },
  resume: {
    from: ["paused"],
    event: ifLimited<RunEvent | "stays">("stays", "unpark"),
    skips: true,
    perform: async (on) => {
      await on.run(removePauses, {})
      return isTold(await on.run(unparkResumed, { limit: 10 }))
    },
  },
  "resume its tenant": {
    from: ["of a paused tenant"],
    event: ifLimited<RunEvent | "stays">("stays", "unpark"),
    skips: true,
    perform: async (on) => {
      await on.run(removePauses, {})
      return isTold(await on.run(unparkTenants, { limit: 10 }))
    },
  },
  "find a handler": {
    from: ["unhandled"],
    event: ifLimited<RunEvent | "stays">("stays", "unpark"),
    skips: true,
    perform: async (on) => {
      await openIdleLease(on, ["greet"])
      return isTold(await on.run(unparkHandled, { limit: 10 }))
    },
  },
  "pause its job": parks("paused", async (on) => {
    await on.run(addPause, { kind: "job", name: "greet" })
    return hasMoved(await on.run(parkPausedJobs, WALK))
  }),
  "pause its tenant": parks("of a paused tenant", async (on) => {
    await on.run(addPause, { kind: "tenant", name: TENANT })
    return hasMoved(await on.run(parkPausedTenants, WALK))
  }),
  "pause everything": parks("paused", async (on) => {
    await on.run(addPause, { kind: "everything", name: "" })
    return hasMoved(await on.run(parkEverything, { limit: 10 }))
  }),
  "pause its pool": parks("paused", async (on) => {
    await on.run(addPause, { kind: "pool", name: "default" })
    return hasMoved(await on.run(parkPausedPools, { limit: 10 }))
  }),
  "miss its handler": parks("unhandled", async (on) =>
    hasMoved(await on.run(parkUnhandled, { ...WALK, afterMs: -1 })),
  ),
  claim: {
    from: ["ready"],
    event: () => "claim",
    skips: true,
    perform: async (on, life) => {
      const claim = host.randomBits()
      const lanes = lanesOf([{ priority: 0 }, { solo: true, priority: 0 }], 10)
      const what = { pool: "default", jobs: ["greet"], except: [], limit: 10 }
      const rows = await on.run(claimRuns, { lease: life.idleLease, claim, ...what, ...lanes })
      if (isTold(rows)) life.drawn.push(claim)
      return isTold(rows)
    },
  },
  succeed: ends("succeed", { ...ENDS["succeeded"] }),
  retry: ends("retry", { ...ENDS["failed"], ...RETURN }),
  "time out": ends("retry", { ...ENDS["timed out"], ...RETURN }),
  snooze: ends("snooze", { ...ENDS["snoozed"], ...RETURN }),
  release: ends("release", { ...ENDS["released"] }),
  bury: ends("bury", { ...ENDS["dead"] }),
  expire: ends("expire", { ...ENDS["expired"] }),
  "give up": ends("cancel", { ...ENDS["cancelled"] }),
  lose: {
    from: HELD,
    event: (kind) => (kind === "fragile" ? "bury" : "lose"),
    skips: true,
    perform: async (on, { fence }) => {
      await on.run(killLease, { lease: fence.lease })
      return isTold(await on.run(reapRuns, { leases: [fence.lease], limit: 10 }))
    },
  },
  cancel: {
    from: LIVE,
    event: (_, phase) => (phase === "cancelling" ? "stays" : "cancel"),
    skips: false,
    perform: async (on, { id }) => isTold(await on.run(cancelRun, { id, code: "C", message: "not wanted" })),
  },
  "record its start": {
    from: HELD,
    event: () => "stays",
    skips: false,
    perform: async (on, { id, fence }) => isTold(await on.run(recordStart, { id, ...fence })),
  },
  "record its progress": {
    from: HELD,
    event: () => "stays",
    skips: false,
    perform: async (on, { id, fence }) =>
      isTold(await on.run(recordProgress, { id, ...fence, progress: "1" })),
  },
  replay: {
    from: ["dead"],
    event: ifLimited<RunEvent>("park", "replay"),
    skips: false,
    perform: async (on, { id }) => isTold(await on.run(replayBatch, { ...letter(id), ...SAME_INPUT })),
  },
  discard: {
    from: ["dead"],
    event: () => "discard",
    skips: false,
    perform: async (on, { id }) => isTold(await on.run(discardBatch, letter(id))),
  },
}

/** Where an act leaves a run that stood at `phase`. */
export function phaseAfter(kind: Kind, phase: Phase, name: string): Phase {
  const act = ACTS[name]
  if (!act?.from.includes(phase)) return phase
  const event = act.event(kind, phase)
  if (event === "keeps") return phase
  if (event === "stays") return PHASES[phase] === "parked" ? "in line" : phase
  const life: Partial<Record<RunEvent, RunState>> = RUN_LIFE[PHASES[phase]]
  const state = life[event]
  if (state === undefined)
    throw new Error(`${name} does to a ${phase} run what RUN_LIFE does not know: ${event}`)
  // Its attempt ends one way or another; the run ends as cancelled.
  if (phase === "cancelling") return RUN_LIFE.running.cancel
  if (phase === "running" && name === "cancel") return "cancelling"
  return state === "parked" ? (act.parks ?? "in line") : state
}
