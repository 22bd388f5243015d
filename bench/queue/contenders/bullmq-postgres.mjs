/** BullMQ on its own PostgreSQL backend. */
import { createBullmq } from "./bullmq.mjs"

const BULK = { batch: 1_000, inFlight: 2, keep: false }
/** What succeeded stays: deleting it is more work for its store than keeping it. */
const DRAIN = { concurrency: 32, workers: 1, connections: 10, keep: true }

const LATENCIES = [
  { concurrency: 1, workers: 1, connections: 10, keep: false },
  { concurrency: 10, workers: 1, connections: 10, keep: false },
  { concurrency: 10, workers: 4, connections: 10, keep: false },
  { concurrency: 1, workers: 1, connections: 10, keep: true },
  { concurrency: 10, workers: 1, connections: 10, keep: true },
]

export const contender = {
  title: "BullMQ on PostgreSQL",
  package: "bullmq",
  on: "postgres",
  share: 0.1,
  /** By half at the least. */
  farBehindIn: ["bulk", "drain", "sleep", "both", "snapshot", "delayed"],
  settings: {
    bulk: BULK,
    single: { keep: false, connections: 10 },
    drain: DRAIN,
    sleep: { concurrency: 10, workers: 1, connections: 10, keep: false },
    both: { ...DRAIN, batch: 1_000, inFlight: 1 },
    latency: { concurrency: 1, workers: 1, connections: 10, keep: false },
  },
  tried: {
    bulk: [
      { ...BULK, batch: 100, inFlight: 4 },
      { ...BULK, batch: 1_000, inFlight: 1 },
      { ...BULK, batch: 1_000, inFlight: 2 },
      { ...BULK, batch: 10_000, inFlight: 1 },
      { ...BULK, batch: 10_000, inFlight: 2 },
    ],
    single: [
      { keep: false, connections: 10 },
      { keep: false, connections: 20 },
      { keep: false, connections: 64 },
    ],
    drain: [
      { ...DRAIN, concurrency: 8, keep: false },
      { ...DRAIN, concurrency: 32, keep: false },
      { ...DRAIN, concurrency: 32, connections: 20, keep: false },
      { ...DRAIN, concurrency: 64, connections: 32, keep: false },
      { ...DRAIN, concurrency: 16, workers: 2, keep: false },
      { ...DRAIN, concurrency: 32, keep: true },
    ],
    sleep: [
      { concurrency: 10, workers: 1, connections: 10, keep: false },
      { concurrency: 5, workers: 2, connections: 10, keep: false },
      { concurrency: 10, workers: 1, connections: 10, keep: true },
    ],
    both: [
      { ...DRAIN, batch: 1_000, inFlight: 1 },
      { ...DRAIN, keep: false, batch: 1_000, inFlight: 1 },
      { ...DRAIN, keep: false, concurrency: 64, connections: 20, batch: 1_000, inFlight: 1 },
      { ...DRAIN, keep: false, concurrency: 16, workers: 2, batch: 1_000, inFlight: 1 },
    ],
    latency: LATENCIES,
    latencyOther: LATENCIES,
  },
  left: "from bullmq.job where finished_at_ms is null",
  kept: "from bullmq.job where finished_at_ms is not null",
  tables: ["bullmq.job"],
  depth: "from bullmq.job where state = 'waiting'",
  harness: (workers) => ({ ...DRAIN, concurrency: workers, connections: 20, keep: true }),
  keepsHistory: ({ keep }) => keep !== false,
  open: createBullmq({
    isOnPostgres: true,
    connectionOf: (connectionString, { connections = 10 }) => ({
      connectionString,
      max: connections,
      migrate: true,
    }),
  }),
}
