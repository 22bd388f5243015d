/** Adds events to the effects of an operation. */
import type { Done } from "../../engine/effects.ts"
import type { CarillonEvent } from "../../observe/events.ts"

export function withEvents<Answer>(
  { answer, effects }: Done<Answer>,
  events: readonly CarillonEvent[],
): Done<Answer> {
  return { answer, effects: { ...effects, events: [...(effects.events ?? []), ...events] } }
}
