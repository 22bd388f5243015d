/** The refusal of an operation on a dead letter that does not exist. */
import { RunError } from "../../errors.ts"

export function notDead(id: string): RunError {
  return new RunError("RUN_NOT_FOUND", id, `Run ${id} is not among the dead letters.`)
}
