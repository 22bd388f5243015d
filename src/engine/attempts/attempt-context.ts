/**
 * The context that an attempt gives to its handler.
 *
 * It is a class with getters, because most handlers read one or two members and thousands of handlers may start in a
 * second. Each function that it returns can be called without the context.
 */
import type { JobContext } from "../../job/context.ts"
import { parseInstant, toDate } from "../../time/instant.ts"
import { attemptIdOf, type ClaimedRun, idempotencyKeyOf } from "../queue/claimed-run.ts"

/** What a context needs from its attempt. */
export interface ContextSource {
  readonly run: ClaimedRun
  readonly signal: () => AbortSignal
  readonly log: JobContext["log"]
  readonly progress: JobContext["progress"]
  readonly transaction: JobContext["transaction"]
}

const NO_TAGS: readonly string[] = Object.freeze([])

export class AttemptContext implements JobContext {
  readonly #source: ContextSource

  constructor(source: ContextSource) {
    this.#source = source
  }

  get runId(): string {
    return this.#source.run.id
  }

  get attemptId(): string {
    return attemptIdOf(this.#source.run)
  }

  get attempt(): number {
    return this.#source.run.attempt
  }

  get generation(): number {
    return this.#source.run.generation
  }

  get job(): string {
    return this.#source.run.job.name
  }

  get pool(): string {
    return this.#source.run.pool
  }

  get tenant(): string | undefined {
    const { tenant } = this.#source.run
    return tenant === "" ? undefined : tenant
  }

  get due(): Date {
    return toDate(this.#source.run.due)
  }

  get schedule(): JobContext["schedule"] {
    const { schedule: id, scheduleName } = this.#source.run.extra
    return id ? { id, name: scheduleName ?? id } : undefined
  }

  get occurrence(): Date | undefined {
    const { occurrence } = this.#source.run.extra
    const instant = occurrence ? parseInstant(occurrence) : undefined
    return instant === undefined ? undefined : toDate(instant)
  }

  get missed(): JobContext["missed"] {
    const { missed } = this.#source.run.extra
    const [first, last] = [parseInstant(missed?.first ?? ""), parseInstant(missed?.last ?? "")]
    if (!missed || first === undefined || last === undefined) return undefined
    return { count: missed.count, first: toDate(first), last: toDate(last) }
  }

  get tags(): readonly string[] {
    return this.#source.run.extra.tags ?? NO_TAGS
  }

  get idempotencyKey(): string {
    return idempotencyKeyOf(this.#source.run)
  }

  get fencingToken(): number {
    return this.#source.run.fencingToken
  }

  get lastFailure(): JobContext["lastFailure"] {
    const { lastError, last } = this.#source.run.extra
    const failure = lastError ?? last?.failure ?? undefined
    return failure && { code: failure.code, message: failure.message }
  }

  get lastResult(): unknown {
    return this.#source.run.extra.last?.result ?? undefined
  }

  get signal(): AbortSignal {
    return this.#source.signal()
  }

  get log(): JobContext["log"] {
    const source = this.#source
    return (message, data) => source.log(message, data)
  }

  get progress(): JobContext["progress"] {
    const source = this.#source
    return (value) => source.progress(value)
  }

  get transaction(): JobContext["transaction"] {
    const source = this.#source
    return (body) => source.transaction(body)
  }
}
