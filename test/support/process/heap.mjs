// A process that executes many runs with every kind of end, and prints the size of its heap after each round.
import { createCarillon, defineJob } from "../../../dist/index.js"

const { database, schema, rounds, runs } = JSON.parse(process.argv[2])
const retry = { attempts: 2, base: 0 }
const plain = defineJob({ name: "plain", run: async () => {} })
const failing = defineJob({
  name: "failing",
  retry,
  run: async (_, { attempt }) => {
    if (attempt === 1) throw new Error("not yet")
  },
})
const limited = defineJob({ name: "limited", concurrency: 5, run: async () => {} })
const carillon = createCarillon({
  database,
  schema,
  jobs: [plain, failing, limited],
  pools: { default: 100 },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
let ended = 0
let wake = () => {}
carillon.subscribe((event) => {
  if (event.type === "attempt.finished" && event.runState === "succeeded") ended += 1
  wake()
})
await carillon.start()

async function round(count) {
  const until = ended + count
  const share = count / 4
  const items = (many) => Array.from({ length: many }, (_, index) => ({ input: { index } }))
  const keyed = items(share).map((item, index) => ({ ...item, key: `${until}-${index}`, keyFor: "1s" }))
  await Promise.all([
    carillon.enqueueMany(plain, items(count - 3 * share)),
    carillon.enqueueMany(plain, keyed),
    carillon.enqueueMany(failing, items(share)),
    carillon.enqueueMany(limited, items(share)),
  ])
  while (ended < until)
    await new Promise((resolve) => {
      wake = resolve
    })
}

const heaps = []
for (let number = 0; number < rounds; number += 1) {
  await round(runs)
  // Garbage of this turn of the event loop is gone then. What is in flight is the same after each round.
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  heaps.push(heapUsed + external)
}
await carillon.stop()
process.stdout.write(`${JSON.stringify(heaps)}\n`)
