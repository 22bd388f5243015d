/** One process that makes runs of what comes due, and executes them if it is given slots. */
import { createCarillon, defineJob } from "../../dist/index.js"
import { answerTo } from "../tools/processes.mjs"
import { createMeter, nowMs } from "./meter.mjs"

const meter = createMeter()
/** Of each run, when it was due and how much later its handler started. */
const starts = []
let carillon

answerTo({
  start: async ({ url, slots }) => {
    const noop = defineJob({
      name: "noop",
      run: async (_, ctx) => {
        const due = ctx.due.getTime()
        starts.push([due, nowMs() - due])
      },
    })
    // Without jobs it serves no pool: it only schedules.
    const jobs = slots > 0 ? { jobs: [noop], pools: { default: slots } } : {}
    // Carillon warns that no process executes these runs, which is wanted here.
    const logger = { debug() {}, info() {}, warn() {}, error: console.error }
    carillon = createCarillon({ database: url, logger, ...jobs })
    await carillon.start()
  },
  read: async () => meter.read(),
  stop: async () => {
    await carillon.stop()
    meter.verify()
    return { answeredAt: meter.answeredAt, starts }
  },
})
