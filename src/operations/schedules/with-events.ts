/** Adds events to the effects of an operation. */
import type { OperationResult } from "../../engine/effects.ts"
import type { CarillonEvent } from "../../observe/events.ts"

export function withEvents<Answer>(
  { answer, effects }: OperationResult<Answer>,
  events: readonly CarillonEvent[],
): OperationResult<Answer> {
  return { answer, effects: { ...effects, events: [...(effects.events ?? []), ...events] } }
}
