/**
 * Performs an operation: waits for its commit, tells its effects, and returns its answer.
 *
 * An operation never tells anything by itself. Whatever it means for loops, for other processes and for callers that
 * wait is in its effects, and this is the one place that passes them on.
 */
import type { Done, TellEffects } from "../engine/effects.ts"

export async function perform<Answer>(tell: TellEffects, operation: Promise<Done<Answer>>): Promise<Answer> {
  const { answer, effects } = await operation
  tell(effects)
  return answer
}
