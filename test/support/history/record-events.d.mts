/** The types of record-events.mjs. */
import type { Recorder } from "./record.mjs"

type Told = { readonly type: string } & Readonly<Record<string, unknown>>

/** The recorded parts of a handler's context. */
interface Context {
  readonly runId: string
  readonly attemptId: string
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/** A listener that writes down every event that the vocabulary has an operation for. */
export function recordEvents(record: Recorder["record"]): (event: Told) => void

/** A handler that writes down what it does, around the given one. */
export function recordHandler<Ctx extends Context, Output>(
  record: Recorder["record"],
  handler: (input: unknown, ctx: Ctx) => Output | Promise<Output>,
): (input: unknown, ctx: Ctx) => Promise<Output>

/** The claim in an attempt's id, in digits, as the database prints it. */
export function claimOf(attemptId: string): string
