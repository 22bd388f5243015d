// A process whose loggers and listeners fail in every way there is. It prints "survived" at its end.
import { createCarillon, defineJob } from "../../../dist/index.js"

const { how, database, schema } = JSON.parse(process.argv[2])

const fail = {
  throws: () => {
    throw new Error("the disk of the log is full")
  },
  rejects: async () => {
    throw new Error("the disk of the log is full")
  },
  "rejects later": () =>
    new Promise((_, reject) => setTimeout(reject, 1, new Error("the disk of the log is full"))),
}[how]

const job = defineJob({
  name: "either",
  retry: { attempts: 2, delay: 0 },
  run: async (_, { attempt }) => {
    if (attempt === 1) throw new Error("no")
    return "done"
  },
})
const carillon = createCarillon({
  database,
  schema,
  jobs: [job],
  pools: { default: 1 },
  logger: { debug: fail, info: fail, warn: fail, error: fail },
})
carillon.subscribe(fail)
await carillon.start()
const run = await carillon.enqueue(job)
const result = await run.result()
await carillon.stop()
await new Promise((resolve) => setTimeout(resolve, 20))
process.stdout.write(result === "done" ? "survived" : "went astray")
