/** How much is measured. Bounded in count here and in time by `CHILD_MS`. */
export const FULL = {
  many: 1_000_000,
  few: 10_000,
  perSecond: 1_000,
  /** Measured seconds: of the lateness itself, of the loads beside it, and of an idle process. */
  longS: 60,
  shortS: 15,
  idleS: 15,
  atOnce: 100_000,
}

/** To see whether it works. Its figures mean nothing. */
export const QUICK = {
  many: 50_000,
  few: 10_000,
  perSecond: 1_000,
  longS: 8,
  shortS: 5,
  idleS: 4,
  atOnce: 10_000,
}

/** Fired like the others, but not counted: code is not measured while it is still being compiled. */
export const WARM_UP_S = 4
/** With how many processes the crowd is worked off. */
export const PROCESSES = [1, 2, 4]
/** What one child process may take altogether. */
export const CHILD_MS = 120_000
