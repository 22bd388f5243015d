/** One measurement of claims in a process of its own. */
import { drainBehind } from "./drain.mjs"
import { lateCommit } from "./late.mjs"

const MEASURES = { drainBehind, lateCommit }

// Also when the parent is gone: nobody wants the result any more.
process.once("disconnect", () => process.exit())

process.once("message", async ({ measure, url, ...task }) => {
  try {
    const result = await MEASURES[measure]({ url, ...task })
    process.send({ result })
  } catch (error) {
    process.send({ failure: error instanceof Error ? error.stack : String(error) })
  } finally {
    process.disconnect()
  }
})
