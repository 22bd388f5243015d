/**
 * Performs an operation: waits for its commit, tells its effects, and returns its answer.
 *
 * An operation tells nothing by itself. Its effects say what it means for loops, for other processes and for waiting
 * callers. Only this function passes effects on.
 */
import type { OperationResult, TellEffects } from "../engine/effects.ts"

export async function perform<Answer>(
  tell: TellEffects,
  operation: Promise<OperationResult<Answer>>,
): Promise<Answer> {
  const { answer, effects } = await operation
  tell(effects)
  return answer
}
