/** The options and answers of `fires` and `planned`: past and coming occurrences of a schedule. */
import type { FireRecord } from "./record.ts"

/** The options of `fires`. */
export interface FireOptions {
  /**
   * The tenant of the schedule.
   *
   * @default the schedule without a tenant
   */
  readonly tenant?: string
  /**
   * The most records in a page, up to 1,000.
   *
   * @default 100
   */
  readonly limit?: number
  /**
   * The `cursor` of the page before.
   *
   * @default the first page
   */
  readonly cursor?: string
}

/** A page of records of occurrences. */
export interface FirePage {
  /** The newest occurrence first, and the newest generation of an occurrence first. */
  readonly fires: readonly FireRecord[]
  /** The cursor of the next page. Absent on the last page. */
  readonly cursor?: string
}

/** The options of `planned`. */
export interface PlannedOptions {
  /**
   * The tenant of the schedule.
   *
   * @default the schedule without a tenant
   */
  readonly tenant?: string
  /**
   * The most occurrences in the answer, up to 1,000.
   *
   * @default 100
   */
  readonly limit?: number
  /**
   * Only occurrences after this one. Give the last one of the answer before.
   *
   * @default the first coming occurrence
   */
  readonly after?: Date
}

/** A coming occurrence. */
export interface PlannedFire {
  /** The planned instant. */
  readonly occurrence: Date
  /** When its run is due: the planned instant plus jitter. */
  readonly due: Date
}
