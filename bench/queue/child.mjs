/** One measurement in a process of its own: nobody's heap, timers or compiled code are in another's figures. */
import { contenderOf } from "./contenders.mjs"
import { latencyReceive, latencySame, latencySend } from "./latency.mjs"
import { both, bulk, drain } from "./measures.mjs"
import { createProfiler } from "./profiler.mjs"

const MEASURES = { bulk, bulkCall: bulk, drain, both, latencySame, latencyReceive, latencySend }
const NOT_PROFILED = { onBegin: () => {}, onEnd: () => {} }

// Also when the parent is gone: nobody wants the result any more.
process.once("disconnect", () => process.exit())

process.once("message", async ({ measure, contender, url, settings, profile }) => {
  try {
    const hooks = profile ? createProfiler(url) : NOT_PROFILED
    const subject = { contender: await contenderOf(contender), url, settings, ...hooks }
    const result = await MEASURES[measure](subject, () => process.send({ ready: true }))
    process.send({ result: { ...result, ...hooks.found?.() } })
  } catch (error) {
    process.send({ failure: error instanceof Error ? error.stack : String(error) })
  } finally {
    process.disconnect()
  }
})
