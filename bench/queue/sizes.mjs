/** How much is measured. Bounded in count or in seconds, and by `childMs`: what one process may take altogether. */
export const FULL = {
  rounds: 3,
  /** Enqueued and executed before the clock starts. */
  warmUp: 5_000,
  bulk: { opening: 20_000, count: 400_000 },
  single: { seconds: 5, inFlight: [1, 8, 64] },
  drain: { count: 200_000, processes: [1, 2, 4] },
  /** For each process: at 10 handlers of 5 ms at once that is 5 s. */
  sleep: { rounds: 2, countEach: 10_000, processes: [1, 2, 4] },
  both: { seconds: 60 },
  latency: { idle: 200, busy: 3_000 },
  snapshot: { rounds: 2, peerRounds: 1, seconds: 75, heldFromS: 15, judgedS: 20 },
  delayed: { rounds: 2, peerRounds: 1, seconds: 75, heldFromS: 15, judgedS: 20 },
  aged: { rounds: 2, peerRounds: 1, ageS: 40, count: 200_000, singleS: 5, latency: 1_000 },
  childMs: 420_000,
}

/** To see whether a part works. Nothing to be published. */
export const SMALL = {
  rounds: 1,
  warmUp: 500,
  bulk: { opening: 2_000, count: 10_000 },
  single: { seconds: 0.5, inFlight: [1, 8, 64] },
  drain: { count: 10_000, processes: [1, 2, 4] },
  sleep: { countEach: 1_000, processes: [1, 2, 4] },
  both: { seconds: 1 },
  latency: { idle: 20, busy: 150 },
  snapshot: { seconds: 5, heldFromS: 1, judgedS: 2 },
  delayed: { seconds: 5, heldFromS: 1, judgedS: 2 },
  aged: { ageS: 3, count: 10_000, singleS: 0.5, latency: 100 },
  childMs: 120_000,
}

/** Of each part one variant, to see within two minutes whether all of them work and roughly who is where. */
export const QUICK = {
  ...SMALL,
  bulk: { opening: 2_000, count: 10_000, variants: ["call"] },
  single: { seconds: 0.3, inFlight: [8] },
  drain: { count: 10_000, processes: [1] },
  latency: { busy: 100, variants: ["sameBusy"] },
  childMs: 20_000,
}

/** Handlers at once in a process when they sleep, and how long: far more than the processors need for the rest. */
export const SLEEP_MS = 5
export const SLEEP_SLOTS = 10
/** Enqueued and not yet executed, while both are measured at once: the queue is never empty and never long. */
export const MOST_WAITING = 10_000
/** With nothing else to do, and at 300 a second: far below what most can do, so that latency is not waiting in line. */
export const PACE_MS = { idle: 50, busy: 1_000 / 300 }
/** The share of the jobs that a contender drains or enqueues when all of them would take minutes. */
export function countFor({ share = 1 }, count) {
  return Math.round(count * share)
}
