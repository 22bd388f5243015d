/** Checks a property with a seed that a failure prints, so that it can be repeated. */
import fc from "fast-check"

/** `CARILLON_SEED=123` tries other cases than the fixed ones. */
export const SEED = Number(process.env["CARILLON_SEED"] ?? 20_260_329)

/** How often each property is tried, in multiples of the default. */
const EFFORT = Number(process.env["CARILLON_EFFORT"] ?? 1)

export function holds<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  check: (...values: Values) => void,
): void {
  fc.assert(fc.property(...arbitraries, check), { numRuns: Math.ceil(numRuns * EFFORT), seed: SEED })
}
