/**
 * What each overlap makes of the occurrences that misfire has chosen, by what the previous run is doing.
 *
 * `N` is the first of them (the only one, except with misfire `all`) and `N+` the others, in their order. A run is
 * `running` as soon as it may start, except where slots are taken (`waiting`): there it is `ready`, next in line for
 * one.
 */
import type { Overlap, Previous } from "./axes.ts"

export interface Arrival {
  /** Their ledger entries. */
  readonly says: string
  /** Earlier ledger entries that have changed. */
  readonly rewritten?: string
  readonly live: string
  readonly starts: string
  readonly ends: string
  readonly because: string
}

const fired = "N fired, N+ fired"

/** Nothing is active: the first starts, and runs that may not overlap with it wait in line. */
const alone = {
  dead: {
    says: fired,
    live: "N running, N+ parked",
    starts: "N+",
    ends: "09:10 dead, N succeeded, N+ succeeded",
    because: "a dead run is not active: otherwise one that fails for good would stop its schedule for ever",
  },
  none: {
    says: fired,
    live: "N running, N+ parked",
    starts: "N+",
    ends: "N succeeded, N+ succeeded",
    because: "there is nothing to overlap with",
  },
}

export const ARRIVALS: Readonly<Record<Overlap, Readonly<Record<Previous, Arrival>>>> = {
  skip: {
    running: {
      says: "N skipped overlap",
      live: "09:10 running",
      starts: "",
      ends: "09:10 succeeded",
      because: "09:10 is active; the occurrence is decided, and not revived when that ends",
    },
    waiting: {
      says: "N skipped overlap",
      live: "09:10 ready",
      starts: "09:10",
      ends: "09:10 succeeded",
      because: "a run that was made and not started is active",
    },
    behind: {
      says: "N skipped overlap",
      live: "09:00 running",
      starts: "",
      ends: "09:00 succeeded",
      because: "09:00 is active, and 09:10 was skipped for that, too",
    },
    retrying: {
      says: "N skipped overlap",
      live: "09:10 waiting",
      starts: "",
      ends: "09:10 waiting",
      because: "a run that waits for its retry is active",
    },
    ...alone,
  },
  queue: {
    running: {
      says: fired,
      live: "09:10 running, N parked, N+ parked",
      starts: "N, N+",
      ends: "09:10 succeeded, N succeeded, N+ succeeded",
      because: "each waits until those before it are finished",
    },
    waiting: {
      says: fired,
      live: "09:10 ready, N parked, N+ parked",
      starts: "09:10, N, N+",
      ends: "09:10 succeeded, N succeeded, N+ succeeded",
      because: "09:10 is first in line, though it has not started",
    },
    behind: {
      says: fired,
      live: "09:00 running, 09:10 parked, N parked, N+ parked",
      starts: "09:10, N, N+",
      ends: "09:00 succeeded, 09:10 succeeded, N succeeded, N+ succeeded",
      because: "they are appended to the line, which loses none",
    },
    retrying: {
      says: fired,
      live: "09:10 waiting, N parked, N+ parked",
      starts: "",
      ends: "09:10 waiting, N parked, N+ parked",
      because: "a run that waits for its retry is active, so that those after it wait as well",
    },
    ...alone,
  },
  collapse: {
    running: {
      says: "N fired",
      live: "09:10 running, N parked",
      starts: "N",
      ends: "09:10 succeeded, N succeeded",
      because: "no run waits yet: it becomes the one that waits",
    },
    waiting: {
      says: "N fired",
      rewritten: "09:10 coalesced overlap into N",
      live: "N ready",
      starts: "N",
      ends: "09:10 cancelled, N succeeded",
      because: "one waits, and the newest is kept",
    },
    behind: {
      says: "N fired",
      rewritten: "09:10 coalesced overlap into N",
      live: "09:00 running, N parked",
      starts: "N",
      ends: "09:00 succeeded, 09:10 cancelled, N succeeded",
      because: "it takes the place of the one that waits; the one that runs goes on",
    },
    retrying: {
      says: "N fired",
      live: "09:10 waiting, N parked",
      starts: "",
      ends: "09:10 waiting, N parked",
      because:
        "a run that waits for its retry is active, not one that waits for its turn: it keeps its place",
    },
    ...alone,
  },
  replace: {
    running: {
      says: "N fired",
      live: "09:10 running cancelling, N parked",
      starts: "N",
      ends: "09:10 cancelled, N succeeded",
      because: "09:10 is asked to end, and the new one starts when it has",
    },
    waiting: {
      says: "N fired",
      rewritten: "09:10 superseded overlap into N",
      live: "N ready",
      starts: "N",
      ends: "09:10 cancelled, N succeeded",
      because: "one that has not started is superseded",
    },
    behind: {
      says: "N fired",
      rewritten: "09:10 superseded overlap into N",
      live: "09:00 running cancelling, N parked",
      starts: "N",
      ends: "09:00 cancelled, 09:10 cancelled, N succeeded",
      because: "09:00 has been asked to end and takes its time; 09:10, which waited for that, is superseded",
    },
    retrying: {
      says: "N fired",
      live: "N running",
      starts: "",
      ends: "09:10 cancelled, N succeeded",
      because: "a run that waits for its retry is active, and has no handler to wait for: it ends at once",
    },
    ...alone,
  },
  allow: {
    running: {
      says: fired,
      live: "09:10 running, N running, N+ running",
      starts: "",
      ends: "09:10 succeeded, N succeeded, N+ succeeded",
      because: "there is no gate",
    },
    waiting: {
      says: fired,
      live: "09:10 ready, N ready, N+ ready",
      starts: "09:10, N, N+",
      ends: "09:10 succeeded, N succeeded, N+ succeeded",
      because: "there is no gate; they all wait for a slot, and for nothing else",
    },
    behind: {
      says: fired,
      live: "09:00 running, 09:10 running, N running, N+ running",
      starts: "",
      ends: "09:00 succeeded, 09:10 succeeded, N succeeded, N+ succeeded",
      because: "there is no gate",
    },
    retrying: {
      says: fired,
      live: "09:10 waiting, N running, N+ running",
      starts: "",
      ends: "09:10 waiting, N succeeded, N+ succeeded",
      because: "there is no gate",
    },
    dead: { ...alone.dead, live: "N running, N+ running", starts: "" },
    none: { ...alone.none, live: "N running, N+ running", starts: "" },
  },
}
