// A process that enqueues many runs in one call and prints how much memory that took, in bytes.
import { createCarillon, defineJob } from "../../../dist/index.js"

const { database, schema, count } = JSON.parse(process.argv[2])
const job = defineJob({ name: "many", run: async () => {} })
const carillon = createCarillon({ database, schema })
await carillon.migrate()
const items = Array.from({ length: count }, (_, index) => ({
  input: { index, to: `someone-${index}@example.com`, text: "something that an ordinary input holds" },
}))
const before = process.memoryUsage.rss()
const answers = await carillon.enqueueMany(job, items)
const after = process.memoryUsage.rss()
await carillon.stop()
const most = process.resourceUsage().maxRSS * 1_024
process.stdout.write(`${JSON.stringify({ answers: answers.length, before, after, most })}\n`)
