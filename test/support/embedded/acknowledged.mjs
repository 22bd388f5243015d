/**
 * A process that enqueues and executes runs on a server for ever, and writes down each answer: `node acknowledged.mjs
 * <url> <file>`. Each line is `enqueued <id>` or `succeeded <id>`.
 */
import { openSync, writeSync } from "node:fs"
import { createCarillon, defineJob } from "../../../dist/index.js"

const [, , database, file] = process.argv
const told = openSync(file, "a")
const tell = (what, id) => writeSync(told, `${what} ${id}\n`)

const job = defineJob({ name: "told", run: async (input) => input })
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const carillon = createCarillon({ database, jobs: [job], logger })
await carillon.start()
console.log("started")

for (let producers = 0; producers < 4; producers += 1) void produce()

async function produce() {
  for (;;) {
    try {
      const run = await carillon.enqueue(job, "something to keep")
      tell("enqueued", run.id)
      await run.result()
      tell("succeeded", run.id)
    } catch {
      // Nothing was acknowledged, so nothing may be missed.
    }
  }
}
