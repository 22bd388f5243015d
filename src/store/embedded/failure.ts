/** The one way in which a start fails: what went wrong, with which folder, and what to do about it. */
import { CarillonError } from "../../errors.ts"

/** Keeps an error that already speaks for itself, and puts anything else into words. */
export function embeddedFailed(what: string, cause: unknown): CarillonError {
  if (cause instanceof CarillonError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CarillonError("EMBEDDED_FAILED", `${what}: ${reason}.${adviceFor(cause)}`, { cause })
}

function adviceFor(cause: unknown): string {
  const advice: Record<string, string> = {
    EACCES: " Check who owns the folder, or choose another `dataDir`.",
    EPERM: " Run as an ordinary user: this one may not change owners or users.",
    EROFS: " Choose a `dataDir` that can be written to.",
    ENOSPC: " Free some space on the disk and start again.",
  }
  return advice[errorCode(cause) ?? ""] ?? ""
}

/** The code of a system error, as in `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : undefined
}

/** For `catch`: turns the listed system errors into `undefined` and lets every other one pass. */
export function absentOn(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes(errorCode(error) ?? "")) return undefined
    throw error
  }
}
