/** Compile-time hints: a wrong option name gets a type that names the right one. */

declare const mistake: unique symbol

/** A type without values. The compiler shows `Why` in its error message. */
export interface Mistake<Why extends string> {
  // An object type, because the intersection of two different string literals would be `never`.
  readonly [mistake]: Readonly<Record<Why, never>>
}

/** Names that other queues use for job options. */
export interface MisnamedOfJob {
  /** @deprecated Use `retry: { attempts }`. It counts the first attempt. */
  readonly retries?: Mistake<"use retry: { attempts }">
  /** @deprecated Use `retry: { attempts }`. */
  readonly attempts?: Mistake<"use retry: { attempts }">
  /** @deprecated Use `retry: { base }`, with `factor` and `cap`. */
  readonly backoff?: Mistake<"use retry: { base, factor, cap }">
}

/** Names that other queues use for options of `retry`. */
export interface MisnamedOfRetry {
  /** @deprecated Use `attempts`. It counts the first attempt. */
  readonly retries?: Mistake<"use attempts">
  /** @deprecated Use `base`, with `factor` and `cap`. */
  readonly backoff?: Mistake<"use base, with factor and cap">
}

/** Names that other libraries use for schedule options. */
export interface MisnamedOfSchedule {
  /** @deprecated Use `timeZone`. */
  readonly tz?: Mistake<"use timeZone">
}
