// Writes down every enqueue before it is sent, and what was answered: yes, certainly not, or nobody knows.
import { AsyncLocalStorage } from "node:async_hooks"

const UNKNOWN = new Set(["OUTCOME_UNKNOWN", "DATABASE_DEADLINE"])
/** The ways in which an enqueue may fail while something is broken, nothing being changed by it. */
const EXPECTED = new Set(["DATABASE_UNAVAILABLE", "DATABASE_BUSY", "DATABASE_FULL", "CLOSED"])

export function createAsking({ record, say }) {
  const calls = new AsyncLocalStorage()

  /** Writes down the answers of `call`, which enqueues; `undefined` if there were none. */
  async function ask(facts, call) {
    const asked = { runs: [], facts }
    try {
      const handles = [await calls.run(asked, call)].flat()
      for (const { id, created } of handles) record("enq_ok", { run: id, created })
      return handles
    } catch (error) {
      refused(asked.runs, error)
      return undefined
    }
  }

  function refused(runs, error) {
    const isUnknown = UNKNOWN.has(error.code)
    for (const run of runs) {
      if (isUnknown) record("enq_info", { run })
      else record("enq_fail", { run, code: error.code ?? "none" })
    }
    say({ type: "enqueue.failed", code: error.code ?? "none" })
    if (!isUnknown && !EXPECTED.has(error.code)) {
      say({ type: "surprise", text: `an enqueue failed with ${error.code}: ${error.message}` })
    }
  }

  return {
    ask,
    /** Every id is written down before it can be used: within a call it will be a run's. */
    named: (run) => {
      const asked = calls.getStore()
      if (asked) {
        asked.runs.push(run)
        record("enq_invoke", { run, ...asked.facts })
      }
      return run
    },
    /** The same for calls whose answer is known only when a transaction around them has ended. */
    within: async (facts, call) => {
      const asked = { runs: [], facts }
      const handles = await calls.run(asked, call).then(
        (handle) => [handle].flat(),
        (error) => error,
      )
      return { runs: asked.runs, ...(Array.isArray(handles) ? { handles } : { error: handles }) }
    },
  }
}
