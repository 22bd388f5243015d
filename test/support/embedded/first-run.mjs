/**
 * A process that executes a run on the embedded server: `node first-run.mjs <data folder>`.
 *
 * Prints one line of JSON, `{ executed }` or `{ code, message }`, then stops when its input ends.
 */
import { createCarillon, defineJob } from "../../../dist/index.js"

const job = defineJob({ name: "first", run: async () => process.pid })
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const carillon = createCarillon({ dataDir: process.argv[2], jobs: [job], logger })

try {
  await carillon.start()
  const run = await carillon.enqueue(job)
  console.log(JSON.stringify({ executed: await run.result() }))
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
}
process.stdin.resume().on("end", () => carillon.stop())
