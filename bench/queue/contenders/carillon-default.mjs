/** Carillon as it comes: no setting of its own, and calls of a thousand one after the other. */
import { contender as tuned } from "./carillon.mjs"

export const contender = {
  ...tuned,
  title: "Carillon as it comes",
  isOurs: true,
  /** What is not here is measured as it comes in any case. */
  settings: { bulk: { batch: 1_000, inFlight: 1 } },
  tried: {},
}
