/** The filter as users of the library write it: an object with the fields of the grammar as its keys. */
import type { RunState } from "../queue/run-state.ts"
import type { Duration } from "../time/duration.ts"

/**
 * Which runs are meant. Every key has to hold; of a list one entry has to.
 *
 * @example
 * { state: ["ready", "running"], job: "invoice.*", tenant: { not: "acme" }, enqueued: { after: "-1h" } }
 */
export interface RunFilter {
  /** The state of the run. */
  readonly state?: OneOf<RunState>
  /** The name of the job. `"invoice.*"` is every job whose name begins with `invoice.` */
  readonly job?: OneOf<WordPattern>
  /** The pool. */
  readonly pool?: OneOf<WordPattern>
  /** The tenant that the run is for. `{ not: "*" }` finds the runs without one. */
  readonly tenant?: OneOf<WordPattern>
  /** The name or the id of the schedule that made the run. */
  readonly schedule?: OneOf<WordPattern>
  /** One of the tags of the run. */
  readonly tag?: OneOf<WordPattern>
  /** The worker that has the run, or had it last. */
  readonly worker?: OneOf<WordPattern>
  /** The code of the last error. */
  readonly error?: OneOf<WordPattern>
  /** The fingerprint of the last error. */
  readonly fingerprint?: OneOf<WordPattern>
  /** The key that the run was enqueued with. */
  readonly key?: OneOf<WordPattern>
  /** The id of the run. */
  readonly id?: OneOf<string>
  /** The priority of the run. */
  readonly priority?: OneOf<number> | NumberRange
  /** How many attempts the run has had, the current one included. */
  readonly attempt?: OneOf<number> | NumberRange
  /** When the run was enqueued. */
  readonly enqueued?: TimeRange
  /** When the run is or was due. */
  readonly due?: TimeRange
  /** When the last attempt started. */
  readonly started?: TimeRange
  /** When the run ended. */
  readonly finished?: TimeRange
  /** How long the last attempt took. */
  readonly duration?: DurationRange
  /** Values inside the input, by their path: `{ "customer.id": 42, "lines.0.sku": "A-*" }`. */
  readonly input?: Readonly<Record<string, OneOf<InputValue> | NumberRange>>
  /** Further filters that have to hold as well: for two conditions on one field. */
  readonly and?: readonly RunFilter[]
}

/** One value, some of which one has to do, or what it has to be and must not be. */
export type OneOf<T> =
  | T
  | readonly T[]
  | {
      /** One of these. */
      readonly is?: T | readonly T[]
      /** None of these. Holds also for a run that has no such value. */
      readonly not?: T | readonly T[]
    }

/** A text. With a `*` at its end it is a beginning; `{ exactly: "a*" }` means the character. */
export type WordPattern = string | { readonly exactly: string }

/** A value inside an input. A text may end with `*`, as in other fields. */
export type InputValue = WordPattern | number | boolean

/** Bounds of a number. Every one that is given has to hold. */
export interface NumberRange {
  /** `>` */
  readonly above?: number
  /** `>=` */
  readonly atLeast?: number
  /** `<` */
  readonly below?: number
  /** `<=` */
  readonly atMost?: number
  /** One bound that must not hold. Without the value it does not hold. */
  readonly not?: Omit<NumberRange, "not">
}

/** Bounds of a time. Every one that is given has to hold. */
export interface TimeRange {
  /** `>` */
  readonly after?: TimeBound
  /** `>=` */
  readonly from?: TimeBound
  /** `<` */
  readonly before?: TimeBound
  /** `<=` */
  readonly until?: TimeBound
  /** One bound that must not hold: `finished: { not: { after: "-1h" } }` also finds what has not finished. */
  readonly not?: Omit<TimeRange, "not">
}

/** A time: a `Date`, a text as `"2026-03-01T00:00Z"`, or from now as `"-1h"` and `"+30m"`. */
export type TimeBound = Date | string

/** Bounds of a duration. Every one that is given has to hold. */
export interface DurationRange {
  /** `>` */
  readonly above?: Duration
  /** `>=` */
  readonly atLeast?: Duration
  /** `<` */
  readonly below?: Duration
  /** `<=` */
  readonly atMost?: Duration
  /** One bound that must not hold. Without the value it does not hold. */
  readonly not?: Omit<DurationRange, "not">
}
