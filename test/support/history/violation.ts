/** What a checker has to say. */
export interface Violation {
  readonly invariant: Invariant
  /** The run or the lease that it is about. */
  readonly subject: string
  /** One sentence: what was seen, and why it must not be. */
  readonly says: string
}

export const INVARIANTS = {
  I1: "nothing is lost",
  I2: "nothing runs that nobody asked for",
  I3: "asking twice makes one run",
  I4: "a run has one owner at a time",
  I5: "what comes too late changes nothing",
  I6: "an end is an end",
  I7: "every attempt is written down once, under its number",
  I8: "every further start has a cause",
} as const

export type Invariant = keyof typeof INVARIANTS
