/**
 * A mutant is the product with one mistake in it, of the kind that a careless change could make: it compiles, and the
 * unit tests do not notice. The checker has to, or it proves nothing.
 */
import { createHash } from "node:crypto"
import type { Invariant } from "../support/history/violation.ts"

export interface Mutant {
  /** What is wrong with it, in a few words: it is its name on the command line too. */
  readonly name: string
  /** What must be found broken. */
  readonly breaks: Invariant
  readonly edits: readonly Edit[]
  readonly shownBy: Workload
}

/** `find` stands exactly once in the file: a mutant that no longer fits is an error, not a pass. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** What shows it: so many seeds of the simulator at the most, or a fault under real processes. */
export type Workload =
  | { readonly kind: "sim"; readonly seeds: number }
  | { readonly kind: "chaos"; readonly fault: string; readonly seconds: number }

/** What is kept of each that was tried. */
export interface Result {
  readonly name: string
  readonly breaks: string
  /** Which mistake it was: one that has been changed since was not tried. */
  readonly mistake: string
  readonly found: boolean
  readonly by: string
  readonly says: string
}

/** A file that moves keeps its mistakes. */
export function mistakeOf({ edits, shownBy }: Mutant): string {
  const texts = edits.map(({ find, replace }) => ({ find, replace }))
  return createHash("sha256").update(JSON.stringify({ texts, shownBy })).digest("hex").slice(0, 16)
}

/** Of each invariant the mutant that the simulator found with the fewest seeds, if it has found any. */
export function soonest(mutants: readonly Mutant[], results: readonly Result[]): Mutant[] {
  const seedOf = ({ name }: Mutant) => {
    const { by } = results.find((result) => result.name === name && result.found) ?? {}
    return Number(/^seed (\d+)$/.exec(by ?? "")?.[1] ?? Number.POSITIVE_INFINITY)
  }
  const found = mutants.filter((mutant) => seedOf(mutant) < Number.POSITIVE_INFINITY)
  return found.filter((mutant) =>
    found.every(
      (other) =>
        other === mutant ||
        other.breaks !== mutant.breaks ||
        seedOf(mutant) < seedOf(other) ||
        (seedOf(mutant) === seedOf(other) && found.indexOf(mutant) < found.indexOf(other)),
    ),
  )
}

export const sim = (seeds = 300): Workload => ({ kind: "sim", seeds })

export const chaos = (fault: string, seconds = 8): Workload => ({ kind: "chaos", fault, seconds })
