/** The whole life of a run, as one table. What becomes of an attempt is tested against it, and the diagram in the docs is made from it. */

export type RunState = "waiting" | "parked" | "ready" | "running" | FinalState
export type FinalState = "succeeded" | "dead" | "cancelled" | "expired" | "discarded"

export type RunEvent =
  | "due" // its time has come
  | "park" // it must wait for something other than time
  | "unpark" // what it waited for has come
  | "claim" // a worker takes it
  | "succeed" // an attempt returned a result
  | "retry" // an attempt failed, another will follow
  | "release" // given back untried
  | "lose" // the worker's lease ended
  | "bury" // failed for good
  | "cancel" // someone does not want it any more
  | "expire" // did not start in time
  | "replay" // a dead run is tried again, as its next generation
  | "discard" // a dead run is given up

/** What each event makes of a run. Where a state does not name an event, the event cannot happen. */
export const RUN_LIFE = {
  waiting: { due: "ready", park: "parked", cancel: "cancelled", expire: "expired" },
  parked: { unpark: "ready", cancel: "cancelled", expire: "expired" },
  ready: { claim: "running", park: "parked", cancel: "cancelled", expire: "expired" },
  running: {
    succeed: "succeeded",
    retry: "waiting",
    release: "ready",
    lose: "ready",
    bury: "dead",
    cancel: "cancelled",
    expire: "expired",
  },
  dead: { replay: "ready", discard: "discarded" },
  succeeded: {},
  cancelled: {},
  expired: {},
  discarded: {},
} as const satisfies Record<RunState, Partial<Record<RunEvent, RunState>>>
