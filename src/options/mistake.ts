/** Mistakes that the compiler can name: the type of an option that is not there says which one is meant. */

declare const mistake: unique symbol

/** No value has this type. The compiler's message shows `Why`. */
export interface Mistake<Why extends string> {
  // An object, so that two of them do not make `never` of each other.
  readonly [mistake]: Readonly<Record<Why, never>>
}

/** Names that other queues use for options of a job. */
export interface MisnamedOfJob {
  /** @deprecated Say `retry: { attempts }`, the first attempt included. */
  readonly retries?: Mistake<"say retry: { attempts }">
  /** @deprecated Say `retry: { attempts }`. */
  readonly attempts?: Mistake<"say retry: { attempts }">
  /** @deprecated Say `retry: { base }`, with `factor` and `cap`. */
  readonly backoff?: Mistake<"say retry: { base, factor, cap }">
}

/** The same for `retry`. */
export interface MisnamedOfRetry {
  /** @deprecated Say `attempts`, the first attempt included. */
  readonly retries?: Mistake<"say attempts">
  /** @deprecated Say `base`, with `factor` and `cap`. */
  readonly backoff?: Mistake<"say base, with factor and cap">
}

/** The same for a schedule. */
export interface MisnamedOfSchedule {
  /** @deprecated Say `timeZone`. */
  readonly tz?: Mistake<"say timeZone">
}
