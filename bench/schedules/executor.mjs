/** One process that executes runs as fast as it can, whether they come from a full queue or from schedules. */
import { createCarillon, defineJob } from "../../dist/index.js"
import { answerTo, nowMs } from "../tools/processes.mjs"

const noop = defineJob({
  name: "noop",
  run: async () => {
    ended += 1
    if (ended === awaited) onAll()
  },
})
let ended = 0
let awaited = 0
let onAll = () => {}
let carillon

answerTo({
  /** Connected and migrated, but with nothing started: plain runs are enqueued now. */
  open: async ({ url, runs }) => {
    const logger = { debug() {}, info() {}, warn() {}, error: console.error }
    carillon = createCarillon({ database: url, logger, jobs: [noop] })
    await carillon.migrate()
    for (let left = runs; left > 0; left -= 5_000) {
      const inputs = Array.from({ length: Math.min(left, 5_000) }, () => ({ input: { n: 1 } }))
      await carillon.enqueueMany(noop, inputs)
    }
  },
  /** Until so many handlers have ended. */
  execute: async ({ count }) => {
    awaited = ended + count
    const all = new Promise((resolve) => {
      onAll = resolve
    })
    const fromMs = nowMs()
    await carillon.start()
    await all
    return { fromMs }
  },
  /** The time from the start of the process's work to the end of the last handler. */
  drain: async ({ count }) => {
    awaited = ended + count
    const all = new Promise((resolve) => {
      onAll = resolve
    })
    const fromMs = nowMs()
    await carillon.start()
    await all
    return { ms: nowMs() - fromMs }
  },
  /** Enqueues one run after the other, and waits for each result. */
  results: async ({ count }) => {
    const times = []
    for (let left = count; left > 0; left -= 1) {
      const fromMs = nowMs()
      const run = await carillon.enqueue(noop, { n: 1 })
      await run.result()
      times.push(nowMs() - fromMs)
    }
    return { medianMs: times.sort((a, b) => a - b)[Math.floor(times.length / 2)] }
  },
  stop: () => carillon.stop(),
})
