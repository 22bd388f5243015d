/** Carillon, through nothing but its public API. It keeps its history. */
import { createCarillon, defineJob } from "../../../dist/index.js"

/** What one `enqueueMany` takes at the most. */
const MOST = 50_000
/** How many single enqueues are under way at once where there is no `enqueueMany`. */
const SINGLE = 100

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
      enqueueMany:
        typeof carillon.enqueueMany === "function"
          ? (inputs) =>
              carillon.enqueueMany(
                noop,
                inputs.map((input) => ({ input })),
              )
          : (inputs) => enqueueOneByOne(carillon, noop, inputs),
      enqueue: (input) => carillon.enqueue(noop, input),
      start: async (handle) => {
        onJob = handle
        await carillon.start()
      },
      close: () => carillon.stop(),
    }
  },
}

let isTold = false

/** Until there is `enqueueMany`: many single ones at once. Not what is meant to be measured. */
async function enqueueOneByOne(carillon, job, inputs) {
  if (!isTold)
    console.error("\n!!! carillon has no enqueueMany: single enqueues instead, NOT THE FIGURE MEANT !!!\n")
  isTold = true
  for (let at = 0; at < inputs.length; at += SINGLE) {
    await Promise.all(inputs.slice(at, at + SINGLE).map((input) => carillon.enqueue(job, input)))
  }
}
