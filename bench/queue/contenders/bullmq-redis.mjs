/**
 * BullMQ on Redis, with the append-only file flushed once a second: a crash of the machine loses up to a second of
 * jobs.
 */
import { createBullmq } from "./bullmq.mjs"

const BULK = { batch: 100, inFlight: 8, keep: false }
const DRAIN = { concurrency: 100, workers: 2, keep: false }

export const contender = {
  title: "BullMQ on Redis",
  package: "bullmq",
  on: "redis",
  /** At less than half of the best there, so that one round is enough to show it. */
  farBehindIn: ["bulk", "drain", "both"],
  settings: {
    bulk: BULK,
    single: { keep: false },
    drain: DRAIN,
    sleep: { concurrency: 10, workers: 1, keep: false },
    both: { ...DRAIN, batch: 1_000, inFlight: 2 },
    latency: { concurrency: 1, workers: 1, keep: false },
  },
  tried: {
    bulk: [
      { ...BULK, batch: 100, inFlight: 8 },
      { ...BULK, batch: 1_000, inFlight: 1 },
      { ...BULK, batch: 1_000, inFlight: 4 },
      { ...BULK, batch: 10_000, inFlight: 1 },
      { ...BULK, batch: 10_000, inFlight: 2 },
    ],
    // It has one connection for all calls.
    single: [],
    drain: [
      { ...DRAIN, concurrency: 50, workers: 1 },
      { ...DRAIN, concurrency: 200, workers: 1 },
      { ...DRAIN, concurrency: 500, workers: 1 },
      { ...DRAIN, concurrency: 1_000, workers: 1 },
      { ...DRAIN, concurrency: 100, workers: 2 },
      { ...DRAIN, concurrency: 100, workers: 4 },
      { ...DRAIN, concurrency: 200, workers: 1, keep: true },
    ],
    sleep: [
      { concurrency: 10, workers: 1, keep: false },
      { concurrency: 5, workers: 2, keep: false },
    ],
    both: [
      { ...DRAIN, concurrency: 200, workers: 1, batch: 1_000, inFlight: 1 },
      { ...DRAIN, concurrency: 200, workers: 1, batch: 1_000, inFlight: 2 },
      { ...DRAIN, concurrency: 500, workers: 1, batch: 1_000, inFlight: 1 },
      { ...DRAIN, concurrency: 100, workers: 2, batch: 1_000, inFlight: 2 },
    ],
    latency: [
      { concurrency: 1, workers: 1, keep: false },
      { concurrency: 10, workers: 1, keep: false },
      { concurrency: 100, workers: 1, keep: false },
      { concurrency: 10, workers: 4, keep: false },
    ],
  },
  queue: "bull:noop",
  keepsHistory: ({ keep }) => keep !== false,
  open: createBullmq({ connectionOf: (path) => ({ path, maxRetriesPerRequest: null }) }),
}
