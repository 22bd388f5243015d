/** Cancels a running run when nothing is broken: its handler has to hear of it in time. */
import { DEFAULTS } from "../../../src/defaults.ts"
import { entriesOf } from "../../support/history/facts.ts"
import type { History } from "../../support/history/operations.ts"
import type { Life } from "../world/process.ts"

export interface Cancelling {
  readonly run: string
  /** How soon after the answer its handler has to know. */
  readonly withinMs: number
  readonly history: History
  /** All that are at work. */
  readonly lives: () => readonly Life[]
  /** Just before it is sent. */
  readonly before?: () => void
}

const BY = { actor: "client", reason: "it is no longer needed" }
const LOOK_EVERY_MS = 20

export async function cancelUnderWay(life: Life, cancelling: Cancelling): Promise<void> {
  const { run, withinMs, history, lives, before } = cancelling
  const startedBy = () => entriesOf(history, "start").find((start) => start.run === run)?.pid
  while (startedBy() === undefined) await life.host.sleep(LOOK_EVERY_MS)
  // Through another process, if there is one: the process of the run itself needs no message.
  const canceller = lives().find(({ pid }) => pid !== startedBy()) ?? life
  await useEachConnection(canceller, run)
  before?.()
  canceller.record("cancel_invoke", { run })
  const { changed, state } = await canceller.carillon.runs.cancel(run, BY)
  if (!changed || state !== "cancelling")
    throw new Error(`a run under way was not cancelled, but is ${state}`)
  canceller.record("cancel_ok", { run, withinMs })
  await canceller.host.sleep(withinMs)
}

/** A message over a connection that had ended unnoticed is lost; a query is sent again over another. */
async function useEachConnection({ carillon }: Life, run: string): Promise<void> {
  await Promise.all(Array.from({ length: DEFAULTS.workConnections }, () => carillon.runs.get(run)))
}
