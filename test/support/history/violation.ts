/** What the checker reports. */
export interface Violation {
  readonly invariant: Invariant
  /** The run, lease, schedule, key or process that it is about. */
  readonly subject: string
  /** One sentence: what was seen, and why it must not be. */
  readonly says: string
}

/** The invariants that the checker judges. A number keeps its meaning, so there are gaps. */
export const INVARIANTS = {
  I1: "nothing is lost",
  I2: "every run was asked for",
  I3: "asking twice makes one run",
  I4: "a run has one owner at a time",
  I5: "what comes too late changes nothing",
  I6: "an end is an end",
  I7: "every attempt is written down once, under its number",
  I8: "every further start has a cause, and the key of the first",
  I9: "every occurrence is decided once, and has one run if it fires",
  I10: "nothing starts early",
  I11: "nothing starts late while nothing is broken",
  I12: "a schedule never goes back",
  I13: "a pause makes no runs, and an edit changes none that were made",
  I14: "a limit holds at every instant",
  I16: "runs are started in their order",
  I18: "a key has one live run",
  I19: "a user's row and the run of its transaction are both there or neither",
  I20: "what a handler writes and the end of its run are both there or neither",
  I21: "a retry comes when it was to come",
  I23: "what was cancelled ends as cancelled, and is not started again",
  I24: "after the last fault everything that is due is done",
  I25: "sessions and what they hold stay within bounds",
  I26: "every run is in one state, and none gets lost in counting",
  I27: "what is written down about a run tells what it is now",
  I28: "the clocks of processes decide nothing",
  I31: "a process that stops takes nothing more, and leaves nothing behind",
  I33: "a reader of all runs misses nothing",
} as const

export type Invariant = keyof typeof INVARIANTS
