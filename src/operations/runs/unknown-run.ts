/** The refusal of an operation on a run that does not exist, or that history does not know any more. */
import { RunError } from "../../errors.ts"

export function unknownRun(id: string): RunError {
  return new RunError("RUN_NOT_FOUND", id, `Run ${id} is neither waiting, running nor in history.`)
}
