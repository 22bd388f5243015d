/** Carillon as it comes: no setting of its own, and calls of a thousand one after the other. */
import { contender as tuned } from "./carillon.mjs"

const CALLS = { batch: 1_000, inFlight: 1 }

export const contender = {
  ...tuned,
  title: "Carillon as it comes",
  isOurs: true,
  /** What is not here is measured without settings in any case. */
  settings: { bulk: CALLS, drain: {}, both: CALLS },
  tried: {},
}
