/**
 * What running a schedule now answers and does, by its overlap and by what the previous run is doing.
 *
 * The rules are those of `overlap-table.ts`, with one difference: the run stands for no occurrence, so the ledger has
 * no entry of it, and the occurrences that it displaces go into no other one. The answer comes at once: a run, or
 * that there is none.
 */
import type { Overlap, Previous } from "./axes.ts"

export interface ByHand {
  readonly answer: "a run" | "skipped: overlap"
  readonly rewritten?: string
  readonly live: string
  readonly starts: string
  readonly ends: string
  readonly because: string
}

const refused = "skipped: overlap"
const made = "a run"

/** Nothing is active: it starts, whatever the overlap. */
const alone: Readonly<Record<"dead" | "none", ByHand>> = {
  dead: {
    answer: made,
    live: "by hand running",
    starts: "",
    ends: "09:10 dead, by hand succeeded",
    because: "a dead run is not active",
  },
  none: {
    answer: made,
    live: "by hand running",
    starts: "",
    ends: "by hand succeeded",
    because: "there is nothing to overlap with",
  },
}

export const BY_HAND: Readonly<Record<Overlap, Readonly<Record<Previous, ByHand>>>> = {
  skip: {
    running: {
      answer: refused,
      live: "09:10 running",
      starts: "",
      ends: "09:10 succeeded",
      because: "09:10 is active",
    },
    waiting: {
      answer: refused,
      live: "09:10 ready",
      starts: "09:10",
      ends: "09:10 succeeded",
      because: "a run that was made and not started is active",
    },
    behind: {
      answer: refused,
      live: "09:00 running",
      starts: "",
      ends: "09:00 succeeded",
      because: "09:00 is active",
    },
    retrying: {
      answer: refused,
      live: "09:10 waiting",
      starts: "",
      ends: "09:10 waiting",
      because: "a run that waits for its retry is active",
    },
    ...alone,
  },
  queue: {
    running: {
      answer: made,
      live: "09:10 running, by hand parked",
      starts: "by hand",
      ends: "09:10 succeeded, by hand succeeded",
      because: "it waits in line",
    },
    waiting: {
      answer: made,
      live: "09:10 ready, by hand parked",
      starts: "09:10, by hand",
      ends: "09:10 succeeded, by hand succeeded",
      because: "it waits in line, behind one that has not started",
    },
    behind: {
      answer: made,
      live: "09:00 running, 09:10 parked, by hand parked",
      starts: "09:10, by hand",
      ends: "09:00 succeeded, 09:10 succeeded, by hand succeeded",
      because: "it waits at the end of the line",
    },
    retrying: {
      answer: made,
      live: "09:10 waiting, by hand parked",
      starts: "",
      ends: "09:10 waiting, by hand parked",
      because: "a run that waits for its retry keeps its place",
    },
    ...alone,
  },
  collapse: {
    running: {
      answer: made,
      live: "09:10 running, by hand parked",
      starts: "by hand",
      ends: "09:10 succeeded, by hand succeeded",
      because: "no run waits yet: it becomes the one that waits",
    },
    waiting: {
      answer: made,
      rewritten: "09:10 coalesced overlap",
      live: "by hand ready",
      starts: "by hand",
      ends: "09:10 cancelled, by hand succeeded",
      because: "it takes the place of the one that waits",
    },
    behind: {
      answer: made,
      rewritten: "09:10 coalesced overlap",
      live: "09:00 running, by hand parked",
      starts: "by hand",
      ends: "09:00 succeeded, 09:10 cancelled, by hand succeeded",
      because: "it takes the place of the one that waits; the one that runs goes on",
    },
    retrying: {
      answer: made,
      live: "09:10 waiting, by hand parked",
      starts: "",
      ends: "09:10 waiting, by hand parked",
      because: "a run that waits for its retry keeps its place",
    },
    ...alone,
  },
  replace: {
    running: {
      answer: made,
      live: "09:10 running cancelling, by hand parked",
      starts: "by hand",
      ends: "09:10 cancelled, by hand succeeded",
      because: "09:10 is asked to end, and the new one starts when it has",
    },
    waiting: {
      answer: made,
      rewritten: "09:10 superseded overlap",
      live: "by hand ready",
      starts: "by hand",
      ends: "09:10 cancelled, by hand succeeded",
      because: "one that has not started is superseded",
    },
    behind: {
      answer: made,
      rewritten: "09:10 superseded overlap",
      live: "09:00 running cancelling, by hand parked",
      starts: "by hand",
      ends: "09:00 cancelled, 09:10 cancelled, by hand succeeded",
      because: "09:00 has been asked to end and takes its time; 09:10, which waited for that, is superseded",
    },
    retrying: {
      answer: made,
      live: "by hand running",
      starts: "",
      ends: "09:10 cancelled, by hand succeeded",
      because: "a run that waits for its retry has no handler to wait for: it ends at once",
    },
    ...alone,
  },
  allow: {
    running: {
      answer: made,
      live: "09:10 running, by hand running",
      starts: "",
      ends: "09:10 succeeded, by hand succeeded",
      because: "there is no gate",
    },
    waiting: {
      answer: made,
      live: "09:10 ready, by hand ready",
      starts: "09:10, by hand",
      ends: "09:10 succeeded, by hand succeeded",
      because: "there is no gate; both wait for a slot, and for nothing else",
    },
    behind: {
      answer: made,
      live: "09:00 running, 09:10 running, by hand running",
      starts: "",
      ends: "09:00 succeeded, 09:10 succeeded, by hand succeeded",
      because: "there is no gate",
    },
    retrying: {
      answer: made,
      live: "09:10 waiting, by hand running",
      starts: "",
      ends: "09:10 waiting, by hand succeeded",
      because: "there is no gate",
    },
    ...alone,
  },
}
