/** Milliseconds from the call that enqueues to the start of the handler, one job at a time, at a steady pace. */
import { setTimeout as sleep } from "node:timers/promises"
import { median } from "../measure.mjs"
import { withSession, withWatcher } from "./session.mjs"
import { JOBS, PACE_MS, WARM_UP } from "./sizes.mjs"
import { createTally } from "./tally.mjs"

/** The first ones are sent and executed like the others, but not counted. */
const SENT = WARM_UP.latency + JOBS.latency

/** One process does both. */
export async function latencySame(subject) {
  return withWatcher(subject, (watcher) =>
    withSession(subject, (session) => receiveAll(session, watcher, () => sendAll(session))),
  )
}

/** The process that executes; `ready` is called when the other may send. */
export async function latencyReceive(subject, ready) {
  return withWatcher(subject, (watcher) =>
    withSession(subject, (session) => receiveAll(session, watcher, ready)),
  )
}

/** The process that enqueues. */
export async function latencySend(subject) {
  await withSession(subject, sendAll)
  return { sent: SENT }
}

async function receiveAll(session, watcher, send) {
  const tally = createTally(SENT)
  const latencies = new Float64Array(SENT)
  await session.start((input) => {
    latencies[input.n] = nowMs() - input.sentMs
    tally.ran(input)
  })
  // Idle, as it would be between two jobs.
  await sleep(500)
  await send()
  await tally.complete
  await watcher.settled()
  tally.verify()
  await watcher.verifyKept(SENT)
  const counted = [...latencies.subarray(WARM_UP.latency)].sort((a, b) => a - b)
  return { medianMs: median(counted), p99Ms: counted[Math.floor(counted.length * 0.99)] }
}

/** Nobody waits for the answer before the next is due: a slow one does not slow the pace. */
async function sendAll(session) {
  const start = performance.now()
  const sending = []
  for (let n = 0; n < SENT; n += 1) {
    const waitMs = start + n * PACE_MS - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    sending.push(session.enqueue({ n, sentMs: nowMs() }))
  }
  await Promise.all(sending)
}

/** A clock that all processes of a machine share. */
function nowMs() {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
