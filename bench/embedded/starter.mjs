/** A process that starts Carillon, enqueues one run, executes it and ends. */
import { createCarillon, defineJob } from "../../dist/index.js"
import { answerTo, nowMs } from "../tools/processes.mjs"

answerTo({
  start: async ({ database, dataDir }) => {
    let executedMs
    const noop = defineJob({
      name: "noop",
      run: async () => {
        executedMs = nowMs()
      },
    })
    const calledMs = nowMs()
    const carillon = createCarillon({
      database,
      dataDir,
      jobs: [noop],
      logger: { debug() {}, info() {}, warn: console.error, error: console.error },
    })
    await carillon.start()
    const { id } = await carillon.enqueue(noop, { n: 0 })
    await carillon.runs.wait(id)
    await carillon.stop()
    return { calledMs, executedMs }
  },
})
