/** The error of a failed start: what failed, in which folder, and what to do. */
import { CarillonError } from "../../errors.ts"
import { adviceFor } from "./advice.ts"

/** Keeps an error that is clear already, and explains any other. */
export function embeddedFailed(what: string, cause: unknown): CarillonError {
  if (cause instanceof CarillonError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  const advice = adviceFor(`${errorCode(cause)} ${reason}`)
  return new CarillonError("EMBEDDED_FAILED", `${what}: ${reason}.${advice}`, { cause })
}

/** The code of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : undefined
}

/** For `catch`: turns the listed system errors into `undefined` and rethrows all others. */
export function absentOn(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes(errorCode(error) ?? "")) return undefined
    throw error
  }
}
