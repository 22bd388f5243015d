/** Carillon, through nothing but its public API. It keeps its history. */
import { createCarillon, defineJob } from "../../../dist/index.js"

/** What one `enqueueMany` takes at the most. */
const MOST = 50_000

const BULK = { batch: 10_000, inFlight: 3 }

export const contender = {
  name: "carillon",
  settings: {
    bulk: BULK,
    bulkCall: BULK,
    drain: { slots: 1_000 },
    both: { slots: 1_000, inFlight: 2 },
    latency: { slots: 100 },
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
    bulkCall: [],
    drain: [{ slots: 10 }, { slots: 100 }, { slots: 500 }, { slots: 1_000 }, { slots: 2_000 }],
    both: [
      { slots: 100, inFlight: 1 },
      { slots: 1_000, inFlight: 1 },
      { slots: 1_000, inFlight: 2 },
      { slots: 1_000, inFlight: 3 },
      { slots: 2_000, inFlight: 1 },
    ],
    latency: [{ slots: 10 }, { slots: 100 }, { slots: 1_000 }],
  },
  left: "from carillon.runs",
  kept: "from carillon.attempts where run_state = 'succeeded'",

  open: async (url, { slots = 10 }) => {
    let onJob = () => {}
    const noop = defineJob({ name: "noop", run: async (input) => onJob(input) })
    const carillon = createCarillon({
      database: url,
      jobs: [noop],
      pools: { default: slots },
    })
    await carillon.migrate()
    return {
      enqueueMany: (inputs) =>
        carillon.enqueueMany(
          noop,
          inputs.map((input) => ({ input })),
        ),
      enqueue: (input) => carillon.enqueue(noop, input),
      start: async (handle) => {
        onJob = handle
        await carillon.start()
      },
      close: () => carillon.stop(),
    }
  },
}
