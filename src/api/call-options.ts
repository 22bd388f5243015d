/** The options that every call takes beside its own: a deadline and a signal. */
import { assertOptions, duration, isPlainObject, object, optional, satisfies } from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import type { ResolvedCall } from "./limited-call.ts"

/** How long a call may take, and what ends it earlier. */
export interface CallOptions {
  /**
   * How long the call may take, including the wait for the database. Until then Carillon repeats a call that certainly
   * changed nothing. Without this option, each transaction of the call has 30 seconds. `DATABASE_UNAVAILABLE` says that
   * nothing was changed. `DATABASE_DEADLINE` and `OUTCOME_UNKNOWN` say that this is unknown.
   *
   * @default "30s"
   */
  readonly deadline?: Duration
  /**
   * Ends the call when it aborts. The error is `CALL_ABORTED` if nothing was changed, and `OUTCOME_UNKNOWN` if this is
   * unknown.
   */
  readonly signal?: AbortSignal
}

export const signalCheck = satisfies("an AbortSignal", (value) => value instanceof AbortSignal)

const shape = { deadline: optional(duration({ min: 1 })), signal: optional(signalCheck) }

/** Separates the deadline and the signal from the options at one place among the arguments. */
export function takeCallOptions<Args extends readonly unknown[]>(
  call: string,
  args: Args,
  place: number,
): { readonly own: Args; readonly options: ResolvedCall | undefined } {
  const given = args[place]
  if (!isPlainObject(given) || !("deadline" in given || "signal" in given)) {
    return { own: args, options: undefined }
  }
  const { deadline, signal, ...rest } = given
  assertOptions(call, { deadline, signal }, object(shape))
  const own = [...args]
  // The options of a call may be left out, and some are judged when they are there.
  own[place] = Object.keys(rest).length === 0 ? undefined : rest
  return {
    own: own as unknown as Args,
    options: {
      deadlineMs: parseDuration(deadline as Duration | undefined),
      signal: signal as AbortSignal | undefined,
    },
  }
}

/** Of a call that takes nothing else. */
export function assertNothingElse(call: string, options: unknown): void {
  assertOptions(call, options ?? {}, object(shape))
}
