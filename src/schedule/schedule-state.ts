/** The state machine of a schedule, as one table: the events that each state allows, and the states that follow. */

export type ScheduleState = "active" | "paused" | "completed" | "missed" | "retired" | "error" | "cancelled"

export type ScheduleEvent =
  | "pause" // an operator or repeated failures pause it
  | "resume" // an operator resumes it, or its pause ends
  | "edit" // its definition changes
  | "skip" // an operator skips its next occurrence
  | "complete" // it has no occurrence left
  | "miss" // its only occurrence was too late
  | "fail" // its stored definition is invalid
  | "retire" // the code no longer declares it
  | "declare" // the code declares it again
  | "cancel" // an operator ends it for good

/**
 * The next state for each event. Carillon rejects an event that a state does not list.
 *
 * An edit or a resume completes a schedule that has no occurrence left. Every state allows `runNow`, reads and
 * deletion.
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
    // A second pause sets a new end.
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
