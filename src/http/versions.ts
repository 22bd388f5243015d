/** `If-Match` and `If-None-Match`: the version that a change is based on. */
import { CarillonError } from "../errors.ts"

export interface Expected {
  /** The version that has to be there. Undefined for any. */
  readonly version: number | undefined
  /** Nothing may be there. */
  readonly isNew: boolean
}

export function expectedOf(headers: Headers): Expected {
  const [match, noneMatch] = [headers.get("If-Match"), headers.get("If-None-Match")]
  if (noneMatch !== null && noneMatch.trim() !== "*") {
    throw new CarillonError("PRECONDITION_FAILED", "`If-None-Match` takes `*` here, and nothing else.")
  }
  return { version: match === null ? undefined : versionOf(match), isNew: noneMatch !== null }
}

function versionOf(match: string): number {
  const [, version] = /^\s*"(\d{1,9})"\s*$/.exec(match) ?? []
  if (version !== undefined) return Number(version)
  throw new CarillonError("PRECONDITION_FAILED", '`If-Match` is not the `ETag` of an answer, as in `"3"`.')
}
