/** Overlap policies are compared in one place, so that a new one is a row there and nothing else. */
import type { Source } from "../sources.ts"

const TABLE = "src/job/overlap.ts"
const POLICY = `["'](?:queue|collapse|replace|allow)["']`
const COMPARISONS = [
  // A name that only overlap policies have, on either side, in TypeScript or in SQL.
  new RegExp(`(?:[=!]==?|<>|\\bcase|\\bwhen)\\s*${POLICY}`, "g"),
  new RegExp(`${POLICY}\\s*(?:[=!]==|<>)`, "g"),
  // The kind of a limit key is a column, not the beginning of a text.
  /\blike\s*'(?:overlap|schedule|backfill)[^']*'/g,
  // Any name, where the value is called an overlap.
  /\boverlap\w*\)*\s*(?:[=!]==?|<>|=|\bin\b|\blike\b)\s*\(?["'][^"']*["']/gi,
]

/** Code that compares the name of an overlap policy instead of asking the table for a behaviour. */
export function overlapComparisons(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path !== TABLE && !path.endsWith(".test.ts"))
    .flatMap(({ path, text }) =>
      COMPARISONS.flatMap((comparison) => text.match(comparison) ?? []).map(
        (found) => `${path} compares: ${found}`,
      ),
    )
}
