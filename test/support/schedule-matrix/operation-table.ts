/**
 * What each operation answers, which occurrences it decides under each misfire, and how it leaves the schedule.
 *
 * The schedule is `*\/10 * * * *`, and 09:10 is the last decided occurrence. Misfire comes first: it chooses the
 * occurrences that get runs. What overlap makes of those is in `overlap-table.ts`.
 */
import type { Misfire, Operation } from "./axes.ts"

export interface ExpectedDecision {
  /** The occurrences that get runs, in their order. */
  readonly chosen: string
  /** The ledger entries of the others. */
  readonly passed: string
  /** How many others the run of `chosen` makes up for. */
  readonly missed: number
  readonly because: string
}

export interface ExpectedOutcome {
  readonly answer: string
  readonly schedule: string
  /** What it decides under each misfire; empty if it decides nothing, or has rules of its own. */
  readonly decided?: Readonly<Record<Misfire, ExpectedDecision>>
  readonly because: string
}

const onTime: ExpectedDecision = {
  chosen: "09:20",
  passed: "",
  missed: 0,
  because: "one occurrence, on time, is the ordinary case of every misfire",
}

const newestOfThree: ExpectedDecision = {
  chosen: "09:40",
  passed: "09:20 x2 coalesced latest into 09:40",
  missed: 2,
  because: "latest fires the newest of those missed, which stands for the others and is told of them",
}

/** 09:20 and 09:30 were missed, and are decided five minutes after the newer, or later. */
const twoMissed: Readonly<Record<Misfire, ExpectedDecision>> = {
  latest: {
    chosen: "09:30",
    passed: "09:20 coalesced latest into 09:30",
    missed: 1,
    because: "latest fires the newest of those missed, which stands for the others and is told of them",
  },
  skip: {
    chosen: "",
    passed: "09:20 x2 skipped misfire",
    missed: 0,
    because: "skip is latest within a minute, and the newest is later than that",
  },
  all: { chosen: "09:20, 09:30", passed: "", missed: 0, because: "all fires each, the oldest first" },
}

/** The edited misfire: another one, which is possible with every overlap. */
export const EDITED = { latest: "skip", skip: "latest", all: "latest" } as const satisfies Record<
  Misfire,
  Misfire
>

export const EXPECTED: Readonly<Record<Operation, ExpectedOutcome>> = {
  due: {
    answer: "",
    schedule: "active, next 09:30",
    decided: { latest: onTime, skip: onTime, all: onTime },
    because: "09:20 comes due while the scheduler is there",
  },
  late: {
    answer: "",
    schedule: "active, next 09:50",
    decided: {
      latest: newestOfThree,
      skip: {
        chosen: "",
        passed: "09:20 x3 skipped misfire",
        missed: 0,
        because: "skip is latest within a minute, and 09:40 is five minutes late",
      },
      all: {
        chosen: "09:20, 09:30, 09:40",
        passed: "",
        missed: 0,
        because: "all fires each, the oldest first",
      },
    },
    because: "the scheduler was away for 09:20, 09:30 and 09:40, and is back at 09:45",
  },
  "a little late": {
    answer: "",
    schedule: "active, next 09:50",
    decided: {
      latest: newestOfThree,
      skip: { ...newestOfThree, because: "skip is latest within a minute, and 09:40 is half a minute late" },
      all: {
        chosen: "09:20, 09:30, 09:40",
        passed: "",
        missed: 0,
        because: "all fires each, the oldest first",
      },
    },
    because: "the scheduler was away for 09:20, 09:30 and 09:40, and is back at 09:40:30",
  },
  pause: {
    answer: "true",
    schedule: "paused",
    because:
      "paused at 09:15: 09:20 makes no run, and nothing is decided of it until the schedule is resumed",
  },
  resume: {
    answer: "true",
    schedule: "active, next 10:00",
    decided: {
      latest: { ...twoMissed.latest, passed: "09:20 coalesced latest into 09:30, 09:40 x2 skipped paused" },
      skip: { ...twoMissed.skip, passed: "09:20 x2 skipped misfire, 09:40 x2 skipped paused" },
      all: { ...twoMissed.all, passed: "09:40 x2 skipped paused" },
    },
    because:
      "the scheduler was away, the schedule was paused at 09:35 and is resumed at 09:55: what was " +
      "missed before the pause obeys misfire, and paused time is not missed time",
  },
  "resume of an active one": {
    answer: "false",
    schedule: "active, next 09:20",
    because: "it was not paused: nothing changes",
  },
  "edit of the times": {
    answer: "changed, next 09:45",
    schedule: "active, next 09:45",
    decided: twoMissed,
    because:
      "edited to 45 * * * * at 09:35, while the scheduler was away: what was due is decided by the " +
      "old definition, and the new one counts from now on",
  },
  "edit of the input": {
    answer: "changed, next 09:20",
    schedule: "active, next 09:40",
    decided: twoMissed,
    because:
      "edited at 09:35, while the scheduler was away: the times are the same, so the edit decides " +
      "nothing, and the scheduler makes its runs with the new input when it is back",
  },
  "edit of the misfire": {
    answer: "changed, next 09:20",
    schedule: "active, next 09:40",
    decided: { latest: twoMissed[EDITED.latest], skip: twoMissed[EDITED.skip], all: twoMissed[EDITED.all] },
    because:
      "edited at 09:35, while the scheduler was away: the times are the same, so the edit decides " +
      "nothing, and the scheduler goes by the new misfire when it is back",
  },
  delete: {
    answer: "true",
    schedule: "gone",
    because: "deleted at 09:15: 09:20 makes no run, and those that were made stay, as does the ledger",
  },
  "run now": {
    answer: "see run-now-table.ts",
    schedule: "active, next 09:20",
    because: "asked for at 09:15: it stands for no occurrence, and moves nothing",
  },
}

/** The answer of each operation for a schedule that was refused, and so does not exist. */
export const WITHOUT: Readonly<Record<Operation, string>> = {
  due: "",
  late: "",
  "a little late": "",
  pause: "SCHEDULE_NOT_FOUND",
  resume: "SCHEDULE_NOT_FOUND",
  "resume of an active one": "SCHEDULE_NOT_FOUND",
  // An edit is a definition too, and refused like one.
  "edit of the times": "OPTIONS_INVALID",
  "edit of the input": "OPTIONS_INVALID",
  "edit of the misfire": "OPTIONS_INVALID",
  delete: "false",
  "run now": "SCHEDULE_NOT_FOUND",
}

/** Why misfire `all` is refused with these overlaps. */
export const REFUSED = {
  skip: "only the first of those missed would ever run",
  collapse: "it would make one run of those missed, which is what latest does",
  replace: "each of those missed would cancel the one before it",
} as const
