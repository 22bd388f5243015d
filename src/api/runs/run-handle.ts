/** The answer of `enqueue`: the id of the run, and a call that waits for its end. */
import type { Results } from "../../engine/attempts/results.ts"
import type { FinishedRun } from "../../engine/attempts/settler.ts"
import { RunError } from "../../errors.ts"
import { decodePayload } from "../../job/payload.ts"
import { unknownRun } from "../../operations/runs/unknown-run.ts"
import { assertOptions, object, optional } from "../../options/check.ts"
import { reviveError } from "../../queue/error-record.ts"
import { signalCheck } from "../call-options.ts"

/** An enqueued run: its id, and a call that waits for its end. */
export interface RunHandle<Output> {
  /** The id of the run. */
  readonly id: string
  /** Whether this call made the run. False if a run with the same `key` existed. */
  readonly created: boolean
  /**
   * Waits for the end of the run, in any process, and returns what its handler returned.
   *
   * Throws a `RunError` if the run ends without a result, with the last error as its `cause`. Throws the reason of
   * `signal` if that aborts.
   */
  readonly result: (options?: ResultOptions) => Promise<Output>
}

/** The options of `result`. */
export interface ResultOptions {
  /** Ends the waiting when it aborts. The run goes on. */
  readonly signal?: AbortSignal
}

/** A class, because `enqueueMany` may return fifty thousand handles and a prototype holds what they share. */
class Handle<Output> implements RunHandle<Output> {
  readonly id: string
  readonly created: boolean
  readonly #results: Results

  constructor(results: Results, run: { readonly id: string; readonly created: boolean }) {
    this.id = run.id
    this.created = run.created
    this.#results = results
  }

  /** A getter that binds the method, so that `const { result } = handle` works. */
  get result(): RunHandle<Output>["result"] {
    const { id } = this
    const results = this.#results
    return async (options) => (await waitForOutput(results, id, options)) as Output
  }
}

export function createRunHandle<Output>(
  results: Results,
  run: { readonly id: string; readonly created: boolean },
): RunHandle<Output> {
  return new Handle<Output>(results, run)
}

/** Waits for the end of a run and returns what its handler returned. */
export async function waitForOutput(
  results: Results,
  id: string,
  options: ResultOptions = {},
): Promise<unknown> {
  assertOptions("result", options, object({ signal: optional(signalCheck) }))
  return outputOf(id, await results.wait(id, options.signal))
}

const CODE_OF: Readonly<Record<string, "RUN_CANCELLED" | "RUN_EXPIRED">> = {
  cancelled: "RUN_CANCELLED",
  expired: "RUN_EXPIRED",
}

/** Says the final state and the reason, each once. Some reasons name the state as well. */
function messageOf(id: string, { state, error }: FinishedRun): string {
  if (!error) return `Run ${id} is ${state}.`
  if (error.message.startsWith(`Run ${id} `)) return error.message
  if (state === "cancelled" && error.message.startsWith("Cancelled by ")) {
    return `Run ${id} was c${error.message.slice(1)}`
  }
  return `Run ${id} is ${state}: ${error.message}`
}

function outputOf(id: string, finished: FinishedRun | undefined): unknown {
  if (!finished) throw unknownRun(id)
  if (finished.state === "succeeded") return decodePayload(finished.result ?? "null")
  const code = CODE_OF[finished.state] ?? "RUN_DEAD"
  throw new RunError(code, id, messageOf(id, finished), {
    ...(finished.error && { cause: reviveError(finished.error) }),
  })
}
