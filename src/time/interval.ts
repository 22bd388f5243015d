/** Intervals of elapsed time, counted from an anchor. They do not drift and ignore clock changes. */
import type { InstantMs } from "./instant.ts"
import type { Recurrence } from "./recurrence.ts"

/** Every `periodMs`, counted from `anchorMs`. */
export function createInterval(periodMs: number, anchorMs: InstantMs): Recurrence {
  const stepsBefore = (at: InstantMs) => Math.ceil((at - anchorMs) / periodMs)
  return {
    next: (after) => anchorMs + (Math.floor((after - anchorMs) / periodMs) + 1) * periodMs,
    previous: (before) => anchorMs + (stepsBefore(before) - 1) * periodMs,
    count: (from, to) => Math.max(0, stepsBefore(to) - stepsBefore(from)),
  }
}
