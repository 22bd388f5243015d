/** What can be asked of dead letters, and what is answered. */
import type { RunFilter } from "../../filter/run-filter.ts"
import type { Discarded } from "../../operations/dead-letters/discard-many.ts"
import type { DeadLetterGroup } from "../../operations/dead-letters/error-group.ts"
import type { Replayed } from "../../operations/dead-letters/replay-many.ts"
import type { Run } from "../../operations/runs/run.ts"
import type { ByWhom } from "../actor.ts"
import type { CallOptions } from "../call-options.ts"

/** A group of dead letters: one job, and errors that are likely the same. */
export interface DeadLetterGroupName {
  /** The name of the job. */
  readonly job: string
  /** What the errors have in common, as `groups` and `list` tell it. */
  readonly fingerprint: string
}

/** Which dead letters are listed. */
export interface DeadLetterListOptions {
  /** Which letters are meant: an object or a text; see the page about filters. All, if it is left out. */
  readonly filter?: RunFilter | string
  /**
   * How many letters a page has at the most: 1 to 1,000.
   *
   * @default 50
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `nextCursor`, given with the same filter. */
  readonly cursor?: string
}

/** A page of dead letters. */
export interface DeadLetterPage {
  /** The newest first. Inputs of more than 8 MiB together end a page early. */
  readonly items: readonly Run[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
  /**
   * There if the page ended before it was full: so many letters were looked at for it. The next page goes on behind
   * them.
   */
  readonly searched?: number
}

/** Where the counts of groups end. */
export interface DeadLetterCountOptions {
  /**
   * No more letters of a group are counted: 1 to 1,000,000.
   *
   * @default 10000
   */
  readonly upTo?: number
}

/** Which groups are listed. */
export interface DeadLetterGroupsOptions extends DeadLetterCountOptions {
  /** Only those of this job. */
  readonly job?: string
  /**
   * How many groups a page has at the most: 1 to 1,000.
   *
   * @default 50
   */
  readonly limit?: number
  /** Goes on where an earlier page ended: its `nextCursor`, given with the same job. */
  readonly cursor?: string
}

/** A page of groups. */
export interface DeadLetterGroupPage {
  /** In the order of job and fingerprint. */
  readonly items: readonly DeadLetterGroup[]
  /** For the next page. Absent when this is the last one. */
  readonly nextCursor?: string
}

/** How several dead letters are replayed, by whom and why. */
export interface ReplayOptions extends ByWhom {
  /**
   * Replays the newest letter first, and the others when its run has succeeded. If it ends otherwise, the others stay.
   *
   * @default false
   */
  readonly canary?: boolean
  /**
   * How many are replayed in a second, a minute or an hour: "50/s", "600/m", "1000/h".
   *
   * @default as fast as the database takes them
   */
  readonly rate?: string
  /**
   * How many are replayed at the most: 1 to 1,000. The newest come first.
   *
   * @default 1000
   */
  readonly limit?: number
}

/** How several dead letters are discarded, by whom and why. */
export interface DiscardOptions extends ByWhom {
  /**
   * How many are discarded at the most: 1 to 1,000. The newest come first.
   *
   * @default 1000
   */
  readonly limit?: number
}

/** Who resolves a group, why, and in which version. */
export interface ResolveOptions extends ByWhom {
  /**
   * The version that has the fix. Runs that die in older versions do not count against it.
   *
   * @default every later death counts
   */
  readonly version?: string
}

/** What can be done with dead letters: `carillon.deadLetters`. */
export interface DeadLetters {
  /** The dead letter of a run; `undefined` if it has none. */
  readonly get: (runId: string, options?: CallOptions) => Promise<Run | undefined>
  /** Dead letters, the newest first, a page at a time. No letter is on two pages. */
  readonly list: (options?: DeadLetterListOptions & CallOptions) => Promise<DeadLetterPage>
  /**
   * Dead letters by job and error, a page at a time.
   *
   * @example
   * const { items } = await carillon.deadLetters.groups({ job: "invoice.send" })
   */
  readonly groups: (options?: DeadLetterGroupsOptions & CallOptions) => Promise<DeadLetterGroupPage>
  /** One group; `undefined` if it has no letters and no operator decided about it. */
  readonly group: (
    group: DeadLetterGroupName,
    options?: DeadLetterCountOptions & CallOptions,
  ) => Promise<DeadLetterGroup | undefined>
  /**
   * Makes dead runs live again, with all their attempts, as their next generation: one by its id, or those that meet a
   * filter, an object or a text. A run without a letter is refused (`RUN_NOT_FOUND`).
   *
   * A run that dies again is not replayed twice by one call. After a crash, call it again: it replays what is left. For
   * more than 1,000, and to have another process go on after a crash, see `bulk.start`.
   *
   * @example
   * await carillon.deadLetters.replay({ job: "invoice.send", fingerprint }, { canary: true, rate: "50/s" })
   */
  readonly replay: {
    (runId: string, by?: ByWhom & CallOptions): Promise<void>
    (filter: RunFilter | string, options?: ReplayOptions & CallOptions): Promise<Replayed>
  }
  /**
   * Replays a dead run with another input. If this process has the job, its schema checks the input. History keeps the
   * input that failed, and the audit says what differs.
   */
  readonly editAndReplay: (runId: string, input: unknown, by?: ByWhom & CallOptions) => Promise<void>
  /**
   * Removes dead letters for good: one by the id of its run, or those that meet a filter. History keeps their attempts.
   * Throws `RUN_NOT_FOUND` for a run without a letter.
   */
  readonly discard: {
    (runId: string, by?: ByWhom & CallOptions): Promise<void>
    (filter: RunFilter | string, options?: DiscardOptions & CallOptions): Promise<Discarded>
  }
  /**
   * Says that the cause of a group is fixed. The group is `regressed` when a run dies of it afterwards, in the version
   * of the fix or a later one. The letters stay: replay or discard them. Returns whether the call changed anything.
   */
  readonly resolve: (group: DeadLetterGroupName, options?: ResolveOptions & CallOptions) => Promise<boolean>
  /** Says that a group needs no work, also if more runs die of it. Returns whether the call changed anything. */
  readonly ignore: (group: DeadLetterGroupName, by?: ByWhom & CallOptions) => Promise<boolean>
  /** Takes back `resolve` or `ignore`. Returns whether there was a decision to take back. */
  readonly reopen: (group: DeadLetterGroupName, by?: ByWhom & CallOptions) => Promise<boolean>
}
