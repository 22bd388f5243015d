/** What follows from an operation is told in one place, after its commit: by `operations/perform.ts`. */
import type { Source } from "../sources.ts"

/** Where a hand reaches for what `engine/effects.ts` rings. */
const BY_HAND: Readonly<Record<string, RegExp>> = {
  "src/operations/": /\b(?:wakeups|admissions|mover|results)\b\s*\.|\.emit\(/,
  "src/api/": /\b(?:wakeups|admissions|mover)\b\s*\./,
}

export function toldByHand(sources: readonly Source[]): string[] {
  return Object.entries(BY_HAND).flatMap(([folder, pattern]) =>
    sources
      .filter(({ path, text }) => path.startsWith(folder) && pattern.test(text))
      .map(({ path }) => `${path} tells by hand what belongs into the effects of an operation`),
  )
}
