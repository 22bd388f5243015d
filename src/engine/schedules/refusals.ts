/** The errors that refuse a change of a schedule. Each says what to do instead. */
import { CarillonError } from "../../errors.ts"
import { canSchedule, type ScheduleEvent, type ScheduleState } from "../../schedule/schedule-state.ts"

/** The schedule that a refusal is about. */
interface Refused {
  readonly name: string
  readonly state: string
}

export function notFound(name: string): CarillonError {
  return new CarillonError("SCHEDULE_NOT_FOUND", `There is no schedule named ${JSON.stringify(name)}.`)
}

/** Throws if the schedule cannot take the event in its state. */
export function assertCan(row: Refused, event: ScheduleEvent, call: string): void {
  // The table's constraint allows these words and no others.
  const state = row.state as ScheduleState
  if (!canSchedule(state, event)) throw wrongState(row, call, INSTEAD[state])
}

const INSTEAD: Readonly<Record<ScheduleState, string>> = {
  active: "It goes on by itself.",
  paused: "Resume it first.",
  completed: "It has no occurrence left: give it other times.",
  missed: "Its time is over: give it another.",
  retired: "The code does not declare it any more: declare it again, or delete it.",
  error: "It is set aside: edit it or resume it first.",
  cancelled: "It was cancelled: delete it first, or use another name.",
}

export function wrongState({ name, state }: Refused, call: string, hint: string): CarillonError {
  return new CarillonError("SCHEDULE_STATE", `${call}: schedule ${JSON.stringify(name)} is ${state}. ${hint}`)
}
