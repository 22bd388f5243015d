/** The whole life of a schedule, as one table: what can be done with it in which state, and what that makes of it. */

export type ScheduleState = "active" | "paused" | "completed" | "missed" | "retired" | "error" | "cancelled"

export type ScheduleEvent =
  | "pause" // someone, or too many failures, stops it for a while
  | "resume" // it goes on
  | "edit" // it gets another definition
  | "skip" // its next occurrence is left out
  | "complete" // it has no occurrence left
  | "miss" // its only occurrence came too late
  | "fail" // it is itself at fault, and is set aside
  | "retire" // the code does not declare it any more
  | "declare" // the code declares it again
  | "cancel" // someone ends it for good

/**
 * What each event makes of a schedule. Where a state does not name an event, it is refused.
 *
 * An edit or a resume of a schedule that has no occurrence left completes it. Running it by hand, looking at it and
 * deleting it are possible in every state.
 */
export const SCHEDULE_LIFE = {
  active: {
    pause: "paused",
    edit: "active",
    skip: "active",
    complete: "completed",
    miss: "missed",
    fail: "error",
    retire: "retired",
    cancel: "cancelled",
  },
  paused: {
    // The latest word about how long counts.
    pause: "paused",
    resume: "active",
    edit: "paused",
    complete: "completed",
    fail: "error",
    retire: "retired",
    cancel: "cancelled",
  },
  completed: { edit: "active", retire: "retired", cancel: "cancelled" },
  missed: { edit: "active", retire: "retired", cancel: "cancelled" },
  error: { resume: "active", edit: "active", complete: "completed", retire: "retired", cancel: "cancelled" },
  retired: { declare: "active", cancel: "cancelled" },
  cancelled: { cancel: "cancelled" },
} as const satisfies Record<ScheduleState, Partial<Record<ScheduleEvent, ScheduleState>>>

export function canSchedule(state: ScheduleState, event: ScheduleEvent): boolean {
  return event in SCHEDULE_LIFE[state]
}
