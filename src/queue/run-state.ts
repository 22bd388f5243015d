/**
 * The state machine of a run, as one table. Tests compare every state-changing statement with it, alone and in races.
 * The diagram in the docs is generated from it.
 */

export type RunState = "waiting" | "parked" | "ready" | "running" | FinalState
export type FinalState = "succeeded" | "dead" | "cancelled" | "expired" | "discarded"

/** Whether a run in this state has not ended. */
export function isLive(state: RunState): boolean {
  return state === "waiting" || state === "parked" || state === "ready" || state === "running"
}

export type RunEvent =
  | "due" // its time has come
  | "park" // it must wait for a limit, the end of a pause, or a handler
  | "unpark" // what it waited for has come
  | "expedite" // an operator makes it due now
  | "delay" // an operator makes it wait
  | "claim" // a worker takes it
  | "succeed" // an attempt returned a result
  | "retry" // an attempt failed, and another follows
  | "snooze" // its handler postponed it
  | "release" // a worker returned it without an attempt
  | "lose" // the lease of its worker ended
  | "bury" // it failed for good, or its worker was lost and it must not repeat
  | "cancel" // an operator or its handler cancelled it
  | "expire" // a worker claimed it too late to start it
  | "replay" // an operator retries a dead run, as its next generation
  | "discard" // an operator gives up a dead run

/**
 * The next state for each event. An event that a state does not list cannot happen in it.
 *
 * Cancelling a running run sets a mark. The run ends as cancelled when its attempt ends, however that ends.
 */
export const RUN_LIFE = {
  waiting: { due: "ready", park: "parked", expedite: "ready", delay: "waiting", cancel: "cancelled" },
  parked: { unpark: "ready", delay: "waiting", cancel: "cancelled" },
  ready: { claim: "running", park: "parked", expedite: "ready", delay: "waiting", cancel: "cancelled" },
  running: {
    succeed: "succeeded",
    retry: "waiting",
    snooze: "waiting",
    release: "ready",
    lose: "ready",
    bury: "dead",
    cancel: "cancelled",
    expire: "expired",
  },
  dead: { replay: "ready", park: "parked", discard: "discarded" },
  succeeded: {},
  cancelled: {},
  expired: {},
  discarded: {},
} as const satisfies Record<RunState, Partial<Record<RunEvent, RunState>>>
