// Records every enqueue before it is sent, and its answer: yes, certainly not, or unknown.
import { AsyncLocalStorage } from "node:async_hooks"

const UNKNOWN = new Set(["OUTCOME_UNKNOWN", "DATABASE_DEADLINE"])
/** The ways in which an enqueue may fail while something is broken, nothing being changed by it. */
const EXPECTED = new Set(["DATABASE_UNAVAILABLE", "DATABASE_BUSY", "DATABASE_FULL", "CLOSED"])

/** What a server or a driver answers to a client's own statement when it is stopped, cut off, full, or blocked. */
const OF_THE_SERVER = /^(08|40|53|57|58)|^(25P02|25P03|55P03)$/
const OF_THE_LINE = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ENOENT", "ETIMEDOUT"])
const OF_THE_DRIVER = /^(connection terminated|query read timeout|timeout exceeded|client has encountered)/i

const isExplained = ({ code }) => UNKNOWN.has(code) || EXPECTED.has(code)

function isOfTheServer(error) {
  const { code, severity, message } = error
  if (code === undefined) return !(error instanceof TypeError) && OF_THE_DRIVER.test(message)
  return severity === undefined ? OF_THE_LINE.has(code) : OF_THE_SERVER.test(code)
}

/** The server's own code where there is one: Carillon's code says less. */
export function codeOf(error) {
  return error.sqlState ?? error.code ?? error.name
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const MOST_REMEMBERED = 50_000

export function createAsking({ record, say }) {
  const calls = new AsyncLocalStorage()
  /** Runs whose insert has been sent. */
  const sent = new Set()

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
    surpriseIf(!isExplained(error), "an enqueue", error)
  }

  function surpriseIf(isSo, what, error) {
    if (isSo) say({ type: "surprise", text: `${what} failed with ${codeOf(error)}: ${error.message}` })
  }

  return {
    ask,
    /** A call of Carillon, or a statement of the client, failed: an error that no fault explains fails the row. */
    explain: (what, error) => surpriseIf(!isExplained(error) && !isOfTheServer(error), what, error),
    /** Every id is written down before it can be used: within a call it will be a run's. */
    named: (run) => {
      const asked = calls.getStore()
      if (asked) {
        asked.runs.push(run)
        record("enq_invoke", { run, ...asked.facts })
      }
      return run
    },
    /** An insert of runs goes out. A repeated enqueue of one of them has the same id. */
    inserting: (values = []) => {
      // The first parameter of those that write one run, and the first list of the others.
      const startsAt = (at) => (value) => typeof value === "string" && value.search(UUID) === at
      const [first] = values
      const ids = (startsAt(0)(first) ? first : values.find(startsAt(1)))?.match(UUID) ?? []
      for (const run of ids) {
        if (sent.has(run)) record("enq_invoke", { run })
        else if (sent.size < MOST_REMEMBERED) sent.add(run)
      }
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
