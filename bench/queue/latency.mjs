/**
 * Part "latency": milliseconds from the call that enqueues to the start of the handler, one job at a time: with nothing
 * else to do (20 a second) and at 300 a second, in the process that enqueued and in another.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { median, percentile } from "../tools/measure.mjs"
import { USUAL_AUTOVACUUM } from "../tools/server.mjs"
import { withFleet } from "./fleet.mjs"
import { PACE_MS } from "./sizes.mjs"

/** Sent and executed like the others, but not counted. */
const WARM_UP = 0.1

const VARIANTS = {
  sameIdle: { title: "same process, idle", isSame: true, pace: "idle" },
  sameBusy: { title: "same process, 300 a second", isSame: true, pace: "busy" },
  otherIdle: { title: "other process, idle", isSame: false, pace: "idle" },
  otherBusy: { title: "other process, 300 a second", isSame: false, pace: "busy" },
}

/** What is best in one process need not be in two. */
export function latencySettings({ latency, latencyOther = latency }, { isSame }) {
  return isSame ? latency : latencyOther
}

export const part = {
  name: "latency",
  server: USUAL_AUTOVACUUM,
  title: "From the call that enqueues to the start of the handler",
  variants: () => VARIANTS,
  settingsOf: ({ settings }, { isSame }) => latencySettings(settings, { isSame }),
  measure: (subject, { isSame, pace }, sizes) =>
    measureLatency(subject, { isSame, paceMs: PACE_MS[pace], count: sizes.latency[pace] }, sizes),
  figures: [
    { key: "medianMs", title: "median ms", better: "less" },
    // Of all rounds together: of one alone it is hardly more than its slowest few.
    { key: "p99Ms", title: "99 %, ms", better: "less", share: 0.99 },
  ],
  targets: [
    { variant: "sameIdle", key: "medianMs", floor: 1, isMore: true, beside: ["bullmq-redis"] },
    { variant: "sameIdle", key: "p99Ms", aim: 1, beside: ["bullmq-redis"] },
    { variant: "sameBusy", key: "medianMs", floor: 1, isMore: true, beside: ["bullmq-redis"] },
    { variant: "sameBusy", key: "p99Ms", aim: 1, beside: ["bullmq-redis"] },
    { variant: "otherIdle", key: "medianMs", floor: 1, isMore: true, aim: 2, beside: "postgres" },
    { variant: "otherBusy", key: "medianMs", floor: 1, isMore: true, aim: 2, beside: "postgres" },
  ],
}

/** `meanwhile` is called before the first is sent, and what it returns when all have run. */
export async function measureLatency(subject, load, sizes) {
  const { isSame, paceMs, count, judged, meanwhile = async () => async () => {} } = load
  const sent = Math.ceil(count * (1 + WARM_UP))
  return withFleet(subject, { processes: 1 }, async (fleet) => {
    const [worker] = fleet.workers
    await fleet.warmUp(sizes.warmUp)
    const found = await fleet.costs(async () => {
      await fleet.openAll()
      if (!isSame) await fleet.open(fleet.client)
      await fleet.start()
      const endMeanwhile = await meanwhile()
      // Idle, as it would be between two jobs.
      await sleep(500)
      await (isSame ? worker : fleet.client).ask("enqueuePaced", { count: sent, paceMs })
      await fleet.drained(sent)
      await endMeanwhile()
      const { latencies } = await worker.ask("ran")
      await fleet.closeAll()
      if (!isSame) await fleet.client.ask("close")
      return {
        count: sent,
        ...spreadOf(latencies.slice(judged === undefined ? sent - count : sent - judged)),
      }
    })
    await fleet.verify(sent, sizes.warmUp)
    return found
  })
}

function spreadOf(samples) {
  return {
    samples,
    medianMs: median(samples),
    p99Ms: percentile(samples, 0.99),
    mostMs: Math.max(...samples),
  }
}
