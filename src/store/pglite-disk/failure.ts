/** The error for a PGlite that cannot be opened: what failed, in which folder, and what to do. */
import { CarillonError } from "../../errors.ts"
import { embeddedFailed } from "../embedded/failure.ts"

/** Keeps an error that is clear already, and explains any other with the advice for its code. */
export function pgliteFailed(what: string, cause: unknown): CarillonError {
  if (cause instanceof CarillonError) return cause
  return new CarillonError("PGLITE_FAILED", embeddedFailed(what, cause).message, { cause })
}
