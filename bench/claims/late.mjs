/**
 * How soon a run starts whose transaction commits long after its insert, while the pool has gone far past its rank; and
 * one that another process expedites.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { createCarillon, defineJob } from "../../dist/index.js"
import { pg } from "../tools/driver.mjs"

const BY = { actor: "bench", reason: "to see how soon" }

/** `notices`: whether wake-ups are sent and heard; `heldMs`: how long each transaction stays open. */
export async function lateCommit({ url, notices, way, heldMs }) {
  const quick = defineJob({ name: "quick", run: async () => {} })
  const starts = new Map()
  const late = defineJob({
    name: "late",
    run: async (n) => {
      starts.get(n)?.(performance.now())
    },
  })
  const options = {
    database: url,
    wakeups: notices,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  }
  const worker = createCarillon({ ...options, jobs: [quick, late] })
  // It enqueues, and executes nothing.
  const client = createCarillon({ ...options, jobs: [] })
  await worker.start()
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  let isOver = false
  /** The mark is in use: there is always something newer. */
  const traffic = (async () => {
    while (!isOver) {
      await worker.enqueueMany(
        quick,
        Array.from({ length: 20 }, () => ({})),
      )
      await sleep(20)
    }
  })()
  const times = []
  for (let sample = 0; sample < heldMs.length; sample += 1) {
    const started = new Promise((resolve) => {
      starts.set(sample, resolve)
    })
    const since = await WAYS[way]({ client, connection, late, sample, heldMs: heldMs[sample] })
    times.push((await started) - since)
  }
  isOver = true
  await traffic
  await connection.end()
  await client.stop()
  await worker.stop()
  return { mostMs: Math.max(...times), times }
}

const WAYS = {
  commit: async ({ client, connection, late, sample, heldMs }) => {
    await connection.query("begin")
    await client.enqueue(late, sample, { tx: connection })
    await sleep(heldMs)
    const since = performance.now()
    await connection.query("commit")
    return since
  },
  expedite: async ({ client, late, sample }) => {
    const { id } = await client.enqueue(late, sample, { delay: "1h" })
    await sleep(500)
    const since = performance.now()
    await client.expedite(id, BY)
    return since
  },
}
