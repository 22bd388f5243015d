/**
 * The whole life of a run, as one table. Every statement that moves a run is tested against it, alone and in races, and
 * the diagram in the docs is made from it.
 */

export type RunState = "waiting" | "parked" | "ready" | "running" | FinalState
export type FinalState = "succeeded" | "dead" | "cancelled" | "expired" | "discarded"

export type RunEvent =
  | "due" // its time has come
  | "park" // it must wait for something other than time
  | "unpark" // what it waited for has come
  | "expedite" // someone wants it now
  | "claim" // a worker takes it
  | "succeed" // an attempt returned a result
  | "retry" // an attempt failed, another will follow
  | "snooze" // its handler said: not now
  | "release" // given back untried
  | "lose" // the worker's lease ended
  | "bury" // failed for good, or lost and not to be repeated
  | "cancel" // someone does not want it any more
  | "expire" // claimed too late to be started
  | "replay" // a dead run is tried again, as its next generation
  | "discard" // a dead run is given up

/**
 * What each event makes of a run. Where a state does not name an event, the event cannot happen.
 *
 * A running run that someone cancels is only marked: it ends when its attempt does, as cancelled, however that ends.
 */
export const RUN_LIFE = {
  waiting: { due: "ready", park: "parked", expedite: "ready", cancel: "cancelled" },
  parked: { unpark: "ready", cancel: "cancelled" },
  ready: { claim: "running", park: "parked", expedite: "ready", cancel: "cancelled" },
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
