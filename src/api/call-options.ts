/** What every call takes beside its own options: how long it may take, and what ends it before. */
import { assertOptions, duration, isPlainObject, object, optional, satisfies } from "../options/check.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import type { ResolvedCall } from "./limited-call.ts"

/** How long a call may take, and what ends it before. */
export interface CallOptions {
  /**
   * How long the call may take, waiting for the database included. It is repeated until then while it has certainly changed
   * nothing. Where nothing is said, each transaction of a call has so long. `DATABASE_UNAVAILABLE` says that nothing was changed, `DATABASE_DEADLINE` and `OUTCOME_UNKNOWN` that this is
   * unknown.
   *
   * @default "30s"
   */
  readonly deadline?: Duration
  /**
   * Ends the call when it aborts: with `CALL_ABORTED` if nothing was changed, with `OUTCOME_UNKNOWN` if something may have
   * been.
   */
  readonly signal?: AbortSignal
}

export const signalCheck = satisfies("an AbortSignal", (value) => value instanceof AbortSignal)

const shape = { deadline: optional(duration({ min: 1 })), signal: optional(signalCheck) }

/** Takes them out of the options at one place among the arguments, which are then those of the call itself. */
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
