/** How much is measured. Bounded in count here and in time by `CHILD_MS`. */
export const ROUNDS = 3
export const JOBS = { bulk: 100_000, drain: 100_000, both: 50_000, latency: 2_000 }
/** Enqueued and executed before the clock starts, so that nobody is measured while still being compiled. */
export const WARM_UP = { bulk: 5_000, drain: 5_000, both: 5_000, latency: 200 }
/** How many are enqueued in one call while the same process executes. */
export const BOTH_BATCH = 1_000
/** 200 a second: far below what anyone can do, so that latency is not waiting in line. */
export const PACE_MS = 5
/** What one child process may take altogether. */
export const CHILD_MS = 180_000
