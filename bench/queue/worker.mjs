/** One process of a contender. It does what it is asked: enqueue, execute, tell what it used. */
import { setTimeout as sleep } from "node:timers/promises"
import { answerTo, nowMs, tell } from "../tools/processes.mjs"
import { contenderOf } from "./contenders.mjs"
import { createProfiler } from "./profiler.mjs"
import { createTally, inputsOf } from "./tally.mjs"

/** How often it says how many it has executed. */
const TELL_MS = 20

let session
let tally = createTally()
let firstMs
let latencies = []
let ticker
let profiler

answerTo({
  open: async ({ contender, url, settings }) => {
    session = await (await contenderOf(contender)).open(url, settings)
  },

  close: async () => {
    clearInterval(ticker)
    await session.close()
    session = undefined
  },

  /** `count` jobs from number `from` on, `batch` in a call and `inFlight` calls at a time. */
  enqueueMany: async ({ count, batch, inFlight, from = 0, delayMs }) => {
    const inputs = inputsOf(count, from)
    const startMs = nowMs()
    let at = 0
    await inLanes(inFlight, async () => {
      while (at < count) {
        const begin = at
        at += batch
        await session.enqueueMany(inputs.slice(begin, begin + batch), { delayMs })
      }
    })
    return { ms: nowMs() - startMs }
  },

  /** One job in a call, `inFlight` calls at a time, for so long. */
  enqueueSingly: async ({ seconds, inFlight, from = 0 }) => {
    const startMs = nowMs()
    let n = from
    await inLanes(inFlight, async () => {
      while (nowMs() - startMs < seconds * 1_000) {
        const [input] = inputsOf(1, n)
        n += 1
        await session.enqueue(input)
      }
    })
    return { ms: nowMs() - startMs, count: n - from }
  },

  /** As fast as it can for so long, but never more than `mostWaiting` ahead of the jobs that this process executed. */
  enqueueSteadily: async ({ seconds, batch, inFlight, mostWaiting, delayMs }) => {
    const startMs = nowMs()
    let count = 0
    await inLanes(inFlight, async () => {
      while (nowMs() - startMs < seconds * 1_000) {
        if (count - tally.ended() > mostWaiting - batch) {
          await sleep(1)
          continue
        }
        const inputs = inputsOf(batch, count)
        count += batch
        await session.enqueueMany(inputs, { delayMs })
      }
    })
    return { count }
  },

  /** One after the other at a pace. The next does not wait for the answer of the last, so a slow one slows nothing. */
  enqueuePaced: async ({ count, paceMs, from = 0 }) => {
    const startMs = nowMs()
    const sending = []
    for (let n = 0; n < count; n += 1) {
      const waitMs = startMs + n * paceMs - nowMs()
      if (waitMs > 0) await sleep(waitMs)
      sending.push(session.enqueue({ n: from + n, sentMs: nowMs() }))
    }
    await Promise.all(sending)
  },

  /** Executes from now on. The handler counts, and sleeps if it is told to. */
  start: async ({ sleepMs = 0 } = {}) => {
    tally = createTally()
    firstMs = undefined
    latencies = []
    const count = ({ n, sentMs }) => {
      firstMs ??= nowMs()
      if (sentMs !== undefined) latencies[n] = nowMs() - sentMs
      tally.ran(n)
    }
    const handler = async (input) => {
      firstMs ??= nowMs()
      await sleep(sleepMs)
      count(input)
    }
    let told = 0
    ticker = setInterval(() => {
      if (tally.ended() === told) return
      told = tally.ended()
      tell({ ran: told, firstMs })
    }, TELL_MS)
    await session.start(sleepMs > 0 ? handler : count)
  },

  ran: () => ({ times: tally.times(), latencies }),

  used: () => {
    const { user, system } = process.cpuUsage()
    return { cpuMs: (user + system) / 1_000, peakMb: Math.round(process.resourceUsage().maxRSS / 1_024) }
  },

  profileStart: async () => {
    profiler = await createProfiler()
  },
  profileStop: () => profiler.stop(),
})

async function inLanes(count, lane) {
  await Promise.all(Array.from({ length: count }, lane))
}
