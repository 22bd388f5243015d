/** What can be asked about the occurrences of a schedule, past and to come, and what is answered. */
import type { FireRecord } from "./record.ts"

/** Which records of occurrences are asked for. */
export interface FireOptions {
  /** Which schedule of several tenants. */
  readonly tenant?: string
  /**
   * How many a page has at the most.
   *
   * @default 100
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `cursor`. */
  readonly cursor?: string
}

/** A page of records of occurrences. */
export interface FirePage {
  /** The newest occurrence first, and of one occurrence the newest generation. */
  readonly fires: readonly FireRecord[]
  /** For the next page. Absent when this is the last one. */
  readonly cursor?: string
}

/** How many coming occurrences are asked for. */
export interface PlannedOptions {
  /** Which schedule of several tenants. */
  readonly tenant?: string
  /**
   * How many at the most.
   *
   * @default 100
   */
  readonly limit?: number
  /** Only those after this occurrence: the last one of an earlier answer. */
  readonly after?: Date
}

/** An occurrence that is still to come. */
export interface PlannedFire {
  /** The planned instant. */
  readonly occurrence: Date
  /** When it is due: later than planned by its jitter. */
  readonly due: Date
}
