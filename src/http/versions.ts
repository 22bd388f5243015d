/** `If-Match` and `If-None-Match`: the version that a change is based on. */
import { z } from "@hono/zod-openapi"
import { CarillonError } from "../errors.ts"

const ifMatch = z.string().openapi({
  description: "The `ETag` that the change is based on. The answer is 412 if there is another version.",
  example: '"3"',
})

export const patchHeaders = z.strictObject({ "If-Match": ifMatch })

export const putHeaders = z.strictObject({
  "If-Match": ifMatch.optional(),
  "If-None-Match": z.literal("*").optional().openapi({ description: "Only creates." }),
})

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
