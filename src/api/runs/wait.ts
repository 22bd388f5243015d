/** Waits for the ends of runs, in any process, and reads the runs as they ended. */
import { RunError } from "../../errors.ts"
import { loadById } from "../../operations/runs/get.ts"
import { type Run, runsOf } from "../../operations/runs/run.ts"
import { unknownRun } from "../../operations/runs/unknown-run.ts"
import { assertOptions, duration, object, optional, satisfies } from "../../options/check.ts"
import { isLive } from "../../queue/run-state.ts"
import { formatDuration, parseDuration } from "../../time/duration.ts"
import type { Opened } from "../application.ts"
import { signalCheck } from "../call-options.ts"
import { runIdOf } from "../options.ts"
import type { RunWaitOptions } from "./calls.ts"

/** The records of more are too much for one answer. */
const MOST = 1_000

const waitCheck = object({ deadline: optional(duration({ min: 1 })), signal: optional(signalCheck) })

export async function waitForRuns(
  opening: () => Promise<Opened>,
  runs: string | readonly string[],
  options: RunWaitOptions = {},
): Promise<Run | Run[]> {
  const ids = idsOf(runs)
  assertOptions("runs.wait", options, waitCheck)
  options.signal?.throwIfAborted()
  const ended = ids.length === 0 ? [] : await endsOf(await opening(), ids, options)
  const byId = new Map(ended.map((run) => [run.id, run]))
  const answer = ids.flatMap((id) => byId.get(id) ?? [])
  const [first] = answer
  return typeof runs === "string" && first ? first : answer
}

function idsOf(runs: unknown): string[] {
  if (typeof runs === "string") return [runIdOf(runs)]
  const check = satisfies(
    "the id of a run, or a list of up to 1,000 ids",
    (value) => Array.isArray(value) && value.length <= MOST,
  )
  assertOptions("runs.wait", { runIds: runs }, object({ runIds: check }))
  return (runs as readonly unknown[]).map(runIdOf)
}

/** Each run once, as it ended. */
async function endsOf(
  { runtime, engine }: Opened,
  ids: readonly string[],
  options: RunWaitOptions,
): Promise<Run[]> {
  const over = new AbortController()
  const signal = AbortSignal.any(options.signal ? [over.signal, options.signal] : [over.signal])
  const pending = new Set(ids)
  const late = parseDuration(options.deadline)
  const timer =
    late === undefined ? undefined : runtime.after(late, () => over.abort(lateError([...pending], late)))

  async function ended(): Promise<Run[]> {
    for (;;) {
      await Promise.all([...pending].map((id) => waitFor(id)))
      const runs = await runsOf(runtime.database, await loadById(runtime.database, [...new Set(ids)]))
      // A dead run may have been replayed before it was read.
      for (const { id, state } of runs) if (isLive(state)) pending.add(id)
      if (pending.size > 0) continue
      const known = new Set(runs.map(({ id }) => id))
      for (const id of ids) if (!known.has(id)) throw unknownRun(id)
      return runs
    }
  }

  async function waitFor(id: string): Promise<void> {
    if ((await engine.results.wait(id, signal)) === undefined) throw unknownRun(id)
    pending.delete(id)
  }

  const givenUp = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason))
  })
  try {
    return await Promise.race([ended(), givenUp])
  } finally {
    timer?.cancel()
    // Ends the other waits if one run is unknown.
    over.abort()
    givenUp.catch(() => {})
  }
}

function lateError(pending: readonly string[], afterMs: number): RunError {
  const [id = ""] = pending
  const which = pending.length === 1 ? `Run ${id} has` : `Run ${id} and ${pending.length - 1} more have`
  return new RunError("RUN_NOT_ENDED", id, `${which} not ended within ${formatDuration(afterMs)}.`)
}
