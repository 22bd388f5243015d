/** The one way in which PGlite fails to open: what went wrong, with which folder, and what to do about it. */
import { CarillonError } from "../../errors.ts"
import { embeddedFailed } from "../embedded/failure.ts"

/** Keeps an error that already speaks for itself, and puts anything else into words, with the advice for its code. */
export function pgliteFailed(what: string, cause: unknown): CarillonError {
  if (cause instanceof CarillonError) return cause
  return new CarillonError("PGLITE_FAILED", embeddedFailed(what, cause).message, { cause })
}
