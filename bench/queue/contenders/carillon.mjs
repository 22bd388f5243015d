/** Carillon, through nothing but its public API. It keeps its history. */
import { createCarillon, defineJob } from "../../../dist/index.js"

/** What one `enqueueMany` takes at the most. */
const MOST = 50_000

const BULK = { batch: 5_000, inFlight: 3 }
const BOTH = { batch: 1_000, inFlight: 1 }

export const contender = {
  title: "Carillon",
  on: "postgres",
  isOurs: true,
  settings: {
    bulk: BULK,
    single: {},
    /** Slots as they come: more of them are no faster from one day to the next. */
    drain: {},
    sleep: { slots: 10 },
    both: BOTH,
    latency: {},
  },
  tried: {
    bulk: [
      { batch: 1_000, inFlight: 1 },
      { batch: 1_000, inFlight: 2 },
      { batch: 10_000, inFlight: 1 },
      { batch: 10_000, inFlight: 2 },
      { batch: 10_000, inFlight: 3 },
      { batch: 5_000, inFlight: 3 },
      { batch: MOST, inFlight: 1 },
      { batch: MOST, inFlight: 2 },
    ],
    drain: [{}, { slots: 100 }, { slots: 500 }, { slots: 1_000 }, { slots: 2_000 }],
    both: [
      BOTH,
      { ...BOTH, inFlight: 2 },
      { ...BOTH, slots: 100 },
      { ...BOTH, slots: 1_000 },
      { ...BOTH, slots: 1_000, inFlight: 2 },
      { ...BOTH, slots: 1_000, inFlight: 3 },
      { ...BOTH, slots: 2_000 },
      { ...BOTH, slots: 1_000, batch: 200, inFlight: 4 },
    ],
    latency: [{}, { slots: 100 }, { slots: 1_000 }],
  },
  left: "from carillon.runs",
  kept: "from carillon.attempts where run_state = 'succeeded'",
  input: "input",
  tables: ["carillon.runs", "carillon.attempts"],
  depth: "from carillon.runs where stage = 'queued' and lease is null",
  harness: (workers) => ({ slots: workers }),
  keepsHistory: () => true,

  /** `cap` limits how many runs execute at once, everywhere. */
  open: async (url, { slots = 10, cap, dataDir }) => {
    let onJob = () => {}
    const noop = defineJob({
      name: "noop",
      run: async (input) => onJob(input),
      ...(cap && { concurrency: cap }),
    })
    // Without a logger of one's own, as most have it: any other is given a line for every run.
    const carillon = createCarillon({
      database: url,
      ...(dataDir && { dataDir }),
      jobs: [noop],
      pools: { default: slots },
    })
    await carillon.migrate()
    return {
      enqueueMany: (inputs, { delayMs } = {}) => {
        const delay = delayMs === undefined ? {} : { delay: delayMs }
        return carillon.enqueueMany(
          noop,
          inputs.map((input) => ({ input, ...delay })),
        )
      },
      enqueue: (input) => carillon.enqueue(noop, input),
      start: async (handle) => {
        onJob = handle
        await carillon.start()
      },
      close: () => carillon.stop(),
    }
  },
}
